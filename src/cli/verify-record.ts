/** hearth evidence verify: brings files, keys, artefacts and replays together; the judgement itself is in evidence/. */
import type { Config } from '../config/config.ts';
import { checkArtefacts, checkReplay, checkTolerant, isPlainGreedy } from '../evidence/compare.ts';
import type { Predicate, Statement } from '../evidence/statement.ts';
import {
  checkBindings,
  checkChain,
  checkSignature,
  conclude,
  type Finding,
  type Verdict,
} from '../evidence/verify.ts';
import { findPrebuiltFolder, hashBackend } from '../identity/backend.ts';
import { sha256Hex } from '../identity/canonical.ts';
import { hashServerSource } from '../identity/server-source.ts';
import { hashFile } from '../models/file-check.ts';
import { isBlobFile, modelFiles } from '../models/manifest.ts';
import { filePath } from '../models/paths.ts';
import { digestOf } from '../models/target.ts';
import type { CliContext } from './context.ts';
import { type RecordFile, readJsonFile, readKeyring, readRecord } from './evidence-files.ts';
import { localRegistry } from './local-registry.ts';
import { createReplayer, NotComparable, type ReplayModel, type Replayer } from './replay.ts';

export interface VerifyFlags {
  readonly request?: string;
  readonly pubkey?: string;
  readonly model?: string;
  readonly artefacts?: boolean;
  readonly replay?: boolean;
  readonly cheap?: boolean;
  readonly threads?: number;
  readonly epsilon: number;
  readonly json?: boolean;
}

export interface FileVerdict extends Verdict {
  readonly file: string;
  readonly payloadSha256: string;
  readonly statement: Statement | null;
}

export async function verifyFiles(
  context: CliContext,
  files: readonly string[],
  flags: VerifyFlags,
): Promise<FileVerdict[]> {
  const config = context.config();
  const keyring = await readKeyring(config.home, flags.pubkey);
  const request = flags.request === undefined ? null : await readJsonFile(flags.request);
  const opened = await Promise.all(files.map(readRecord));
  const verdicts: FileVerdict[] = [];
  for (const file of opened) {
    const { findings, statement } = checkSignature(file.record, keyring);
    if (statement !== null) {
      findings.push(...checkBindings({ record: file.record, statement, request }));
      const isSound = findings.every(({ outcome }) => outcome !== 'failed');
      if (isSound) findings.push(...(await checkHere(context, { config, file, statement, request, flags })));
    }
    const payloadSha256 = sha256Hex(file.record.payload);
    verdicts.push({ file: file.path, payloadSha256, statement, ...conclude(findings) });
  }
  return withChain(verdicts, opened);
}

/** Records of one boot stand or fall together, so what their links show counts for each of them. */
function withChain(verdicts: readonly FileVerdict[], opened: readonly RecordFile[]): FileVerdict[] {
  const records = verdicts.flatMap(({ statement }, index) =>
    statement === null ? [] : [{ statement, payload: opened[index]?.record.payload ?? Buffer.alloc(0) }],
  );
  const links = checkChain(records);
  return verdicts.map((verdict) =>
    verdict.statement === null ? verdict : { ...verdict, ...conclude([...verdict.findings, ...links]) },
  );
}

interface Case {
  readonly config: Config;
  readonly file: RecordFile;
  readonly statement: Statement;
  readonly request: { readonly value: unknown } | null;
  readonly flags: VerifyFlags;
}

/** L2 to L4: what needs the model and the backend of this machine. */
async function checkHere(context: CliContext, one: Case): Promise<Finding[]> {
  const { flags, statement } = one;
  if (flags.artefacts !== true && flags.replay !== true && flags.cheap !== true) return [];
  const claimed = statement.predicate;
  const model = await findModel(one.config, claimed, flags.model);
  const [backend, server] = await Promise.all([hashBackend(findPrebuiltFolder()), hashServerSource()]);
  const findings = checkArtefacts(claimed, {
    blob: model?.sha256 ?? null,
    backend: backend?.sha256 ?? null,
    server: server.sha256,
  });
  if (flags.replay !== true && flags.cheap !== true) return findings;
  if (model === null)
    return [...findings, cannot('replay', 'the model is not installed here (--model FILE)')];
  if (one.request === null)
    return [...findings, cannot('replay', 'a replay needs the request (--request FILE)')];
  // A tolerant check is made for machines with another backend, so a difference there does not count against it.
  const counted = flags.replay === true ? findings : findings.filter(({ outcome }) => outcome === 'passed');
  const replayer = createReplayer(context, model);
  try {
    return [...counted, ...(await replays(one, one.request.value, replayer))];
  } catch (error) {
    if (!(error instanceof NotComparable)) throw error;
    return [...counted, cannot('replay', error.message)];
  } finally {
    await replayer.close();
  }
}

async function replays(one: Case, request: unknown, replayer: Replayer): Promise<Finding[]> {
  const { flags, config, file } = one;
  const claimed = one.statement.predicate;
  const findings: Finding[] = [];
  if (flags.replay === true) {
    const threads = flags.threads ?? config.numThreads ?? claimed.exec.n_threads;
    findings.push(...checkReplay(claimed, await replayer.replay(claimed, request, threads)));
  }
  if (flags.cheap === true) {
    const tokens = file.record.outputTokens;
    const { epsilon } = flags;
    if (tokens === null) findings.push(cannot('tolerant', 'the file does not carry the output tokens', 'L4'));
    else if (!isPlainGreedy(claimed)) findings.push(...checkTolerant(claimed, noCheck, epsilon));
    else {
      findings.push(
        ...checkTolerant(claimed, await replayer.check(claimed, request, { tokens, epsilon }), epsilon),
      );
    }
  }
  return findings;
}

const noCheck = {
  steps: 0,
  exact: 0,
  withinMargin: 0,
  firstMismatch: null,
  largestGap: 0,
  promptTokensSha256: '',
};

/** The file given, or an installed model of the very bytes that the record names; its hash is computed anew. */
export async function findModel(
  config: Config,
  claimed: Predicate,
  path: string | undefined,
): Promise<ReplayModel | null> {
  if (path !== undefined) {
    const sha256 = await hashFile(path);
    return { path, sha256, sizeBytes: claimed.model.size, defaultStop: [] };
  }
  const registry = localRegistry(config);
  for (const model of await registry.list()) {
    const [first] = modelFiles(model);
    if (first === undefined || first.sizeBytes !== claimed.model.size) continue;
    const known = digestOf(first);
    if (known !== null && isBlobFile(first) && known !== claimed.model.blob_sha256) continue;
    const sha256 = await hashFile(filePath(registry.store.paths, first));
    if (sha256 !== claimed.model.blob_sha256) continue;
    const target = registry.toTarget(model);
    return { path: target.path, sha256, sizeBytes: first.sizeBytes, defaultStop: model.params.stop ?? [] };
  }
  return null;
}

const cannot = (name: string, detail: string, level: Finding['level'] = 'L3'): Finding => ({
  level,
  name,
  outcome: 'incomparable',
  detail,
});
