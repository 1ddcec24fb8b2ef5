/**
 * cli/verbs owns the verbs, one per file; it knows nothing of how they are found or how their failures are printed.
 * This file: hearth evidence. `verify` and `replay` exit with 0 verified, 1 mismatch, 2 not comparable, 3 malformed,
 * 4 no such file.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { fail, isFailure } from '../../lib/errors/svc-error.ts';
import { systemClock } from '../../lib/base/clock.ts';
import { HAND_OVER_MS, readKeyHistory, rotateKey } from '../../trust/evidence/rotation.ts';
import { readPublicIdentity } from '../../trust/identity/public-identity.ts';
import { registerMissingBuiltin } from '../builtin-models.ts';
import { type CliContext, printable } from '../context.ts';
import { localRegistry } from '../local-registry.ts';
import { openLog } from '../log/logger.ts';
import { readRecord } from '../../server/api/replay/evidence-files.ts';
import { parsePayload } from '../../trust/evidence/verify.ts';
import type { Machine } from '../../server/api/replay/machine.ts';
import type { Drift } from '../../server/api/replay/replay-folder.ts';
import type { FileVerdict, VerifyFlags } from '../../server/api/replay/verify-record.ts';

const MALFORMED = 3;

interface ReplayFlags {
  readonly json?: boolean;
  readonly model?: string;
  readonly pubkey?: string;
}

interface PubkeyFlags {
  readonly fingerprint?: boolean;
  readonly history?: boolean;
}

export function registerEvidence(program: Command, context: CliContext): void {
  const evidence = program
    .command('evidence')
    .description('check signed records of answers, vectors and evaluations, and manage the key');
  evidence
    .command('verify <file...>')
    .description(
      'check records; exit code 0 verified, 1 mismatch, 2 not comparable, 3 malformed, 4 no such file',
    )
    .option('--request <file>', 'the request body that was answered')
    .option('--nonce <text>', 'the nonce that was sent; a record with another one, or none, is a mismatch')
    .option(
      '--pubkey <file>',
      'trust these keys (PEM, or the output of pubkey --history) instead of this home',
    )
    .option('--artefacts', 'compare the installed model, backend and server with the record')
    .option('--replay', 'compute the answer again and compare it bit for bit')
    .option('--cheap', 'check all claimed tokens in one pass: exact, within margin, or mismatch at token k')
    .option('--epsilon <logits>', 'margin of --cheap in logits', logits, 0.5)
    .option(
      '--threads <n>',
      'threads for --replay, instead of those recorded; only an answer of an exact model can be replayed with others',
      threads,
    )
    .option('--model <file>', 'use this GGUF file instead of an installed model')
    .option('--json', 'one JSON document')
    .action((files: string[], flags: VerifyFlags) =>
      ownExitCodes(context, () => verify(context, files, flags)),
    );
  evidence
    .command('show <file>')
    .description('print the statement of a record as JSON, unchecked')
    .action((file: string) => ownExitCodes(context, () => show(context, file)));
  evidence
    .command('replay <folder>')
    .description('replay the records of a folder on this installation; report drift and speed')
    .option('--json', 'one JSON document')
    .option('--pubkey <file>', "trust these keys instead of this home's, as in verify")
    .option('--model <file>', 'use this GGUF file instead of an installed model')
    .action((folder: string, flags: ReplayFlags) =>
      ownExitCodes(context, () => replay(context, folder, flags)),
    );
  evidence
    .command('pubkey')
    .description("print this home's public key as PEM")
    .addOption(
      new Option('--fingerprint', 'print its key ID, SHA-256 in hex, as the page shows it').conflicts(
        'history',
      ),
    )
    .option('--history', 'print the first key and every hand-over as JSON')
    .action((flags: PubkeyFlags) => pubkey(context, flags));
  evidence
    .command('rotate')
    .description('make a new key, signed by the present one; a running service signs with it from now on')
    .action(() => rotate(context));
}

function logits(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError('not a number of logits');
  return value;
}

function threads(text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new InvalidArgumentError('not a number of threads');
  return Number(text);
}

function thisMachine(context: CliContext): Machine {
  const config = context.config();
  const { home, numThreads } = config;
  return {
    env: context.env,
    home,
    numThreads,
    offerModel: (id) =>
      registerMissingBuiltin(id, {
        home,
        registry: localRegistry(config),
        log: openLog({ level: config.logLevel, home: null }).logger,
      }),
    note: (line) => context.note(line),
  };
}

async function verify(context: CliContext, files: readonly string[], flags: VerifyFlags): Promise<number> {
  // Loaded on demand: the other verbs of evidence neither check nor run anything.
  const { verifyFiles } = await import('../../server/api/replay/verify-record.ts');
  const verdicts = await verifyFiles(thisMachine(context), files, flags);
  const documents = verdicts.map(verdictJson);
  if (flags.json === true) context.printJson(documents.length === 1 ? documents[0] : documents);
  else context.print(verdicts.map(describe).join('\n'));
  return worstExitCode(verdicts);
}

/** Worst first: mismatch, malformed, missing, not comparable. */
export function worstExitCode(verdicts: readonly Pick<FileVerdict, 'exitCode'>[]): FileVerdict['exitCode'] {
  const order = [1, 3, 4, 2] as const;
  return order.find((code) => verdicts.some(({ exitCode }) => exitCode === code)) ?? 0;
}

function verdictJson({ file, payloadSha256, exitCode, level, findings, statement }: FileVerdict) {
  return {
    object: 'svc.evidence_verdict',
    file,
    verdict: WORDS[exitCode],
    exit_code: exitCode,
    level,
    payload_sha256: payloadSha256,
    findings,
    statement,
  };
}

const WORDS = { 0: 'verified', 1: 'mismatch', 2: 'not comparable', 3: 'malformed', 4: 'not found' } as const;
const MARKS = {
  passed: 'ok  ',
  failed: 'BAD ',
  incomparable: 'n/c ',
  skipped: '-   ',
  noted: '!   ',
} as const;

function describe({ file, exitCode, level, findings }: FileVerdict): string {
  const verdict = exitCode === 0 ? `verified at ${level}` : WORDS[exitCode];
  const lines = findings.map(
    (finding) => `  ${MARKS[finding.outcome]}${finding.level} ${finding.name}: ${printable(finding.detail)}`,
  );
  return [`${printable(file)}: ${verdict}`, ...lines].join('\n');
}

async function show(context: CliContext, file: string): Promise<number> {
  const { record } = await readRecord(file);
  context.note('Not checked: this is only what the file claims.');
  context.printJson(parsePayload(record.payload));
  return 0;
}

async function replay(context: CliContext, folder: string, flags: ReplayFlags): Promise<number> {
  const names = await readdir(folder).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') throw fail('file_not_found', { path: folder }, cause);
    throw fail('record_malformed', { reason: `${folder} cannot be read` }, cause);
  });
  const files = names.filter((name) => name.endsWith('.json') && !name.endsWith('.request.json')).sort();
  const { replayFolder } = await import('../../server/api/replay/replay-folder.ts');
  const drifts = await replayFolder(
    thisMachine(context),
    files.map((name) => join(folder, name)),
    flags,
  );
  if (drifts.length === 0) throw fail('record_malformed', { reason: `${folder} holds no records` });
  if (flags.json === true) context.printJson(drifts);
  else context.print([...drifts.map(driftLine), summary(drifts)].join('\n'));
  return replayExitCode(drifts);
}

/** Worst first: mismatch, malformed, not comparable. */
function replayExitCode(drifts: readonly Drift[]): number {
  const has = (...outcomes: Drift['outcome'][]): boolean =>
    drifts.some(({ outcome }) => outcomes.includes(outcome));
  // Different conditions excuse different logits, but not different words, which follow from the tokens alone.
  const isBroken = drifts.some(
    ({ outcome, terms, isSameText }) => outcome === 'same_tokens' && (terms === '' || isSameText === false),
  );
  if (isBroken || has('drift', 'mismatch')) return 1;
  if (has('malformed')) return MALFORMED;
  return has('not_comparable') ? 2 : 0;
}

function driftLine(drift: Drift): string {
  const speed = drift.tokensPerS === null ? '' : `, ${drift.tokensPerS.toFixed(1)} tok/s`;
  const before =
    drift.reportedTokensPerS === null ? '' : ` (recorded: ${drift.reportedTokensPerS.toFixed(1)})`;
  return `${printable(drift.file)}: ${drift.outcome.replace('_', ' ')}, ${printable(drift.detail)}${speed}${before}`;
}

function summary(drifts: readonly Drift[]): string {
  const count = (outcome: Drift['outcome']): number =>
    drifts.filter((drift) => drift.outcome === outcome).length;
  const counts = [
    `${count('exact')} exact`,
    `${count('same_tokens')} with the same tokens`,
    `${count('drift')} with other tokens`,
    `${count('mismatch')} altered`,
    `${count('not_comparable')} not comparable`,
    `${count('malformed')} malformed`,
  ];
  return `${drifts.length} ${drifts.length === 1 ? 'record' : 'records'}: ${counts.join(', ')}`;
}

async function pubkey(context: CliContext, { fingerprint, history }: PubkeyFlags): Promise<void> {
  const { home } = context.config();
  const { keyid, publicKeyPem } = await readPublicIdentity(home);
  if (history === true) context.printJson(await readKeyHistory(home));
  else context.print(fingerprint === true ? keyid : publicKeyPem.trimEnd());
}

async function rotate(context: CliContext): Promise<void> {
  const { home } = context.config();
  const { publicKeyPem } = await rotateKey(home, systemClock.unixMs() + HAND_OVER_MS);
  context.print(publicKeyPem.trimEnd());
  context.note(
    'The new key is in place, and a running service signs with it from now on. Give others the output of hearth evidence pubkey --history.',
  );
  context.note(
    'The next start of the service empties the prompt cache on the disk, whose key follows from the old key.',
  );
}

/** These verbs treat an unreadable file as a malformed record. */
async function ownExitCodes(context: CliContext, run: () => Promise<number>): Promise<void> {
  try {
    context.setExitCode(await run());
  } catch (error) {
    if (!isFailure(error, 'record_malformed')) throw error;
    context.note(`hearth: ${printable(error.message)}`);
    context.setExitCode(MALFORMED);
  }
}
