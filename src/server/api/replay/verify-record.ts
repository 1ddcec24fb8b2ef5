/**
 * hearth evidence verify: reads files and keys, hashes artefacts and runs replays; trust/evidence judges the results.
 */
import {
  checkArtefacts,
  checkReplay,
  checkTolerant,
  isPlainGreedy,
  onlyReplayTells,
} from '../../../trust/evidence/compare.ts';
import type { Keyring } from '../../../trust/evidence/keyring.ts';
import type { Statement } from '../../../trust/evidence/statement.ts';
import {
  type AnswerStatement,
  type AnyStatement,
  isCard,
  isOfVectors,
} from '../../../trust/evidence/any-statement.ts';
import { checkVectorReplay } from '../../../trust/evidence/vector-checks.ts';
import {
  issuerBoot,
  type ChainedRecord,
  checkChain,
  conclude,
  type Finding,
  type OpenedRecord,
  type RequestFile,
  type Verdict,
} from '../../../trust/evidence/verify.ts';
import { isFailure } from '../../../lib/errors/svc-error.ts';
import { librariesFolder } from '../../../lib/files/native-library.ts';
import { findRecorded, type RecordedBackend } from '../../../trust/identity/backend.ts';
import { sha256Hex } from '../../../trust/identity/canonical.ts';
import { hashServerSource } from '../../../trust/identity/server-source.ts';
import { cannot, checkClaims } from './check-claims.ts';
import { type RecordFile, readJsonFile, readKeyring, readRecord } from './evidence-files.ts';
import type { Machine } from './machine.ts';
import { Replayer, type ReplayModel } from './replay.ts';
import { MEASURED_AGAIN } from './replay-job.ts';
import { replayVectors } from './replay-vectors.ts';
import { findModel } from './replay-model.ts';

export interface VerifyFlags {
  readonly request?: string;
  readonly nonce?: string;
  readonly pubkey?: string;
  readonly model?: string;
  readonly artefacts?: boolean;
  readonly replay?: boolean;
  readonly cheap?: boolean;
  readonly threads?: number;
  readonly epsilon: number;
  readonly json?: boolean;
}

export interface FileVerdict extends Omit<Verdict, 'exitCode'> {
  readonly file: string;
  /** In addition: 3 for a file without a record and 4 for a missing file. */
  readonly exitCode: Verdict['exitCode'] | 3 | 4;
  readonly payloadSha256: string | null;
  readonly statement: AnyStatement | null;
}

export async function verifyFiles(
  machine: Machine,
  files: readonly string[],
  flags: VerifyFlags,
): Promise<FileVerdict[]> {
  const keyring = await readKeyring(machine.home, flags.pubkey);
  const request = flags.request === undefined ? null : await readJsonFile(flags.request);
  const judged: Judged[] = [];
  for (const path of files) {
    const claims = await readClaims(path, keyring, { request, nonce: flags.nonce });
    if ('verdict' in claims) {
      judged.push(claims);
      continue;
    }
    const { file, findings, statement, record } = claims;
    if (statement !== null && findings.every(({ outcome }) => outcome !== 'failed'))
      findings.push(...(await checkHere({ machine, record, statement, request: claims.request, flags })));

    const { payload } = file.record;
    const payloadSha256 = sha256Hex(payload);
    const verdict = { file: path, payloadSha256, statement, ...conclude(findings) };
    judged.push({ verdict, payload });
  }
  return withChain(judged);
}

interface Judged {
  readonly verdict: FileVerdict;
  readonly payload: Buffer | null;
}

type Claims = ReturnType<typeof checkClaims> & { readonly file: RecordFile };

async function readClaims(
  path: string,
  keyring: Keyring | null,
  asked: { readonly request: RequestFile | null; readonly nonce: string | undefined },
): Promise<Claims | Judged> {
  try {
    const file = await readRecord(path);
    const request = asked.request ?? file.request;
    return { file, ...checkClaims(file.record, keyring, { ...asked, request }) };
  } catch (error) {
    if (isFailure(error, 'file_not_found')) return unread(path, 4, 'there is no such file');
    if (isFailure(error, 'record_malformed')) return unread(path, 3, error.detail.reason);
    throw error;
  }
}

function unread(file: string, exitCode: 3 | 4, detail: string): Judged {
  const findings: Finding[] = [{ level: 'L0', name: 'file', outcome: 'failed', detail }];
  const verdict = {
    file,
    exitCode,
    payloadSha256: null,
    statement: null,
    level: null,
    findings,
  };
  return { verdict, payload: null };
}

function withChain(judged: readonly Judged[]): FileVerdict[] {
  const boots = new Map<string, ChainedRecord[]>();
  for (const { verdict, payload } of judged) {
    const { statement } = verdict;
    if (statement === null || payload === null) continue;
    const boot = issuerBoot(statement);
    boots.set(boot, [...(boots.get(boot) ?? []), { statement, payload }]);
  }
  const links = new Map([...boots].map(([boot, records]) => [boot, checkChain(records)]));
  return judged.map(({ verdict }) => {
    const { statement } = verdict;
    if (statement === null) return verdict;
    const ofBoot = links.get(issuerBoot(statement)) ?? [];
    return { ...verdict, ...conclude([...verdict.findings, ...ofBoot]) };
  });
}

interface Case {
  readonly machine: Machine;
  readonly record: OpenedRecord;
  readonly statement: AnyStatement;
  readonly request: RequestFile | null;
  readonly flags: VerifyFlags;
}

async function checkHere(one: Case): Promise<Finding[]> {
  const { flags } = one;
  const isRun = flags.replay === true || flags.cheap === true;
  if (flags.artefacts !== true && !isRun) return [];
  try {
    const model = await findModel(one.machine, one.statement.predicate, flags.model);
    const recorded = one.statement.predicate.backend.backend_sha256;
    const backend = await findRecorded(recorded, librariesFolder(one.machine.home));
    const findings = await artefacts(one.statement, model, backend);
    if (!isRun) return findings;
    const { statement } = one;
    if (isCard(statement)) return [...findings, cannot('replay', MEASURED_AGAIN)];
    return await runHere({ ...one, statement }, { model, findings, backend });
  } catch (error) {
    if (!isFailure(error, 'record_not_comparable')) throw error;
    return [cannot('model', error.detail.reason, 'L2')];
  }
}

type Answered = Case & { readonly statement: AnswerStatement };

async function artefacts(
  { predicate }: AnyStatement,
  model: ReplayModel | null,
  backend: RecordedBackend,
): Promise<Finding[]> {
  const server = await hashServerSource();
  return checkArtefacts(predicate, {
    model: model?.files ?? null,
    backend: backend.sha256,
    server: server.sha256,
  });
}

async function runHere(
  one: Answered,
  {
    model,
    findings,
    backend,
  }: {
    readonly model: ReplayModel | null;
    readonly findings: readonly Finding[];
    readonly backend: RecordedBackend;
  },
): Promise<Finding[]> {
  if (model === null) {
    return [
      ...findings,
      cannot('replay', 'the model is not installed here; name its file with --model FILE'),
    ];
  }
  if (one.request === null)
    return [...findings, cannot('replay', 'a replay needs the request (--request FILE)')];
  // Another model makes other tokens, so it is not run.
  if (findings.some(({ name, outcome }) => name !== 'backend' && outcome === 'incomparable'))
    return [...findings];
  // A tolerant check is for machines with another backend, so that difference is not counted.
  const counted =
    one.flags.replay === true ? findings : findings.filter(({ outcome }) => outcome === 'passed');
  const here = { env: one.machine.env, libraries: backend.libraries, model };
  try {
    return [...counted, ...(await replays(one, one.request.value, here))];
  } catch (error) {
    if (!isFailure(error, 'record_not_comparable')) throw error;
    return [...counted, cannot('replay', error.detail.reason)];
  }
}

interface Here extends Pick<Machine, 'env'> {
  readonly libraries: string | null;
  readonly model: ReplayModel;
}

async function replays(one: Answered, request: unknown, { model, ...here }: Here): Promise<Finding[]> {
  const { statement } = one;
  if (isOfVectors(statement)) {
    const { flags, machine } = one;
    const claimed = statement.predicate;
    if (flags.replay !== true)
      return [cannot('tolerant', 'vectors have no tokens to check; use --replay', 'L4')];
    const threads = flags.threads ?? machine.numThreads ?? claimed.exec.n_threads;
    return checkVectorReplay(statement, await replayVectors(here, model, { claimed, request, threads }));
  }
  const replayer = new Replayer(here, model);
  try {
    return await replayAnswer({ ...one, statement }, request, replayer);
  } finally {
    await replayer.close();
  }
}

async function replayAnswer(
  { flags, machine, record, statement }: Case & { readonly statement: Statement },
  request: unknown,
  replayer: Replayer,
): Promise<Finding[]> {
  const claimed = statement.predicate;
  const findings: Finding[] = [];
  if (flags.replay === true) {
    const threads = flags.threads ?? machine.numThreads ?? claimed.exec.n_threads;
    findings.push(...checkReplay(statement, await replayer.replay(claimed, request, threads)));
  }
  if (flags.cheap === true) {
    const { outputTokens: tokens, response } = record;
    const { epsilon } = flags;
    if (tokens === null) {
      findings.push(cannot('tolerant', 'the file does not carry the output tokens', 'L4'));
    } else if (!isPlainGreedy(claimed)) {
      findings.push(onlyReplayTells(claimed.sampling.chain));
    } else {
      const checked = await replayer.check(claimed, request, { tokens, epsilon });
      findings.push(...checkTolerant(statement, response, checked, epsilon));
    }
  }
  return findings;
}
