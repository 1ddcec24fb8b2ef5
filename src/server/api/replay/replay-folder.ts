/** hearth evidence replay: repeats recorded requests on the present installation and compares the answers. */
import { isFailure } from '../../../lib/errors/svc-error.ts';
import { librariesFolder } from '../../../lib/files/native-library.ts';
import { checkReplay, type Replayed, saysWhatWasAnswered } from '../../../trust/evidence/compare.ts';
import type { Keyring } from '../../../trust/evidence/keyring.ts';
import type { Statement } from '../../../trust/evidence/statement.ts';
import type { Finding } from '../../../trust/evidence/verify.ts';
import { isCard, isOfVectors } from '../../../trust/evidence/any-statement.ts';
import { checkVectorReplay, type ReplayedVectors } from '../../../trust/evidence/vector-checks.ts';
import type { VectorStatement } from '../../../trust/evidence/vector-statement.ts';
import { findRecorded } from '../../../trust/identity/backend.ts';
import { checkClaims } from './check-claims.ts';
import { readJsonFile, readKeyring, readRecord, type RecordFile } from './evidence-files.ts';
import type { Machine } from './machine.ts';
import { Replayer, type ReplayModel } from './replay.ts';
import { MEASURED_AGAIN, notComparable } from './replay-job.ts';
import { findModel } from './replay-model.ts';
import { replayVectors, type VectorReplay } from './replay-vectors.ts';

export interface Drift {
  readonly file: string;
  /**
   * `exact`: everything compared is equal; `same_tokens`: the logits or the text differ; `drift`: the tokens differ;
   * `mismatch`: the record is inconsistent, so it was not run.
   */
  readonly outcome: 'exact' | 'same_tokens' | 'drift' | 'mismatch' | 'not_comparable' | 'malformed';
  readonly detail: string;
  readonly sameTokens: number | null;
  readonly recordedTokens: number | null;
  /** Compares without log probabilities; null if it was not run. */
  readonly isSameText: boolean | null;
  readonly terms: string;
  readonly tokensPerS: number | null;
  readonly reportedTokensPerS: number | null;
}

/** Records of one model share a worker. A faulty record is reported in its place, and the others run. */
export async function replayFolder(
  machine: Machine,
  files: readonly string[],
  { model: modelFile, pubkey }: { readonly model?: string; readonly pubkey?: string },
): Promise<Drift[]> {
  const keyring = await readKeyring(machine.home, pubkey);
  const workers = new Map<string, Replayer>();
  const openReplayer = async (model: ReplayModel, backendSha256: string): Promise<Replayer> => {
    const { libraries } = await findRecorded(backendSha256, librariesFolder(machine.home));
    const key = JSON.stringify([model.path, libraries]);
    const replayer = workers.get(key) ?? new Replayer({ env: machine.env, libraries }, model);
    workers.set(key, replayer);
    return replayer;
  };
  const drifts: Drift[] = [];
  try {
    for (const file of files) {
      machine.note(`Replaying ${file}`);
      drifts.push(await replayDrift(file, { machine, keyring, modelFile, openReplayer }));
    }
  } finally {
    await Promise.all([...workers.values()].map((worker) => worker.close()));
  }
  return drifts;
}

interface Bench {
  readonly machine: Machine;
  readonly keyring: Keyring | null;
  readonly modelFile: string | undefined;
  openReplayer(model: ReplayModel, backendSha256: string): Promise<Replayer>;
}

async function replayDrift(file: string, bench: Bench): Promise<Drift> {
  try {
    const recorded = await readRecord(file);
    const { findings, statement, record, request } = checkClaims(recorded.record, bench.keyring, {
      request: recorded.request ?? (await readRequest(file)),
    });
    const wrong = findings.find(({ outcome }) => outcome === 'failed');
    if (wrong !== undefined) return notRun(file, 'mismatch', `${wrong.name}: ${wrong.detail}`);
    const open = findings.find(({ outcome }) => outcome === 'incomparable');
    if (open !== undefined) throw notComparable(open.detail);
    if (statement !== null && isCard(statement)) throw notComparable(MEASURED_AGAIN);
    if (request === null) throw notComparable(`${requestFile(file)} cannot be read`);
    if (statement === null) throw notComparable('its signature was not checked');
    const model = await findModel(bench.machine, statement.predicate, bench.modelFile);
    if (model === null) {
      throw notComparable(
        `model ${statement.predicate.model.id} is not installed here; name its file with --model FILE`,
      );
    }
    const { backend_sha256 } = statement.predicate.backend;
    if (isOfVectors(statement)) {
      const { libraries } = await findRecorded(backend_sha256, librariesFolder(bench.machine.home));
      const here = { env: bench.machine.env, libraries };
      return await replayedVectors(file, statement, (one) =>
        replayVectors(here, model, { ...one, request: request.value }),
      );
    }
    const replayer = await bench.openReplayer(model, backend_sha256);
    return await replayed({ ...recorded, record }, { statement, request: request.value, replayer });
  } catch (error) {
    if (isFailure(error, 'record_not_comparable')) return notRun(file, 'not_comparable', error.detail.reason);
    if (isFailure(error, 'record_malformed')) return notRun(file, 'malformed', error.detail.reason);
    if (isFailure(error, 'file_not_found')) return notRun(file, 'malformed', 'there is no such file');
    throw error;
  }
}

async function replayedVectors(
  file: string,
  statement: VectorStatement,
  replay: (one: Omit<VectorReplay, 'request'>) => Promise<ReplayedVectors>,
): Promise<Drift> {
  const claimed = statement.predicate;
  const findings = checkVectorReplay(statement, await replay({ claimed, threads: claimed.exec.n_threads }));
  const terms = findings.find(({ name }) => name === 'replay');
  if (terms !== undefined) throw notComparable(terms.detail);
  const wrong = findings.filter(({ outcome }) => outcome === 'failed').map(({ name }) => name);
  const count = `${claimed.vectors.inputs.length} vectors`;
  return {
    ...notRun(file, wrong.length === 0 ? 'exact' : 'drift', count),
    detail: wrong.length === 0 ? count : `${count} differing: ${wrong.join(', ')}`,
  };
}

const requestFile = (file: string): string => file.replace(/\.json$/, '.request.json');

async function readRequest(file: string): Promise<{ bytes: Buffer; value: unknown } | null> {
  try {
    return await readJsonFile(requestFile(file));
  } catch (error) {
    if (!isFailure(error, 'record_malformed', 'file_not_found')) throw error;
    return null;
  }
}

async function replayed(
  { path, record, reportedSpeed }: RecordFile,
  one: { readonly statement: Statement; readonly request: unknown; readonly replayer: Replayer },
): Promise<Drift> {
  const { exec, output } = one.statement.predicate;
  const result = await one.replayer.replay(one.statement.predicate, one.request, exec.n_threads);
  const findings = checkReplay(one.statement, result);
  const terms = findings.find(({ name }) => name === 'replay')?.detail ?? '';
  const isSameText = saysWhatWasAnswered(one.statement, record.response, result);
  const wrong = [...computedOtherwise(findings), ...answeredOtherwise(one.statement, result, isSameText)];
  const isSame = output.tokens_sha256 === result.output.tokens_sha256;
  const isSameTrace = output.trace_sha256 === result.output.trace_sha256;
  const sameTokens = isSame ? output.n_tokens : commonTokens(record.outputTokens, result.tokens);
  const where = sameTokens === null ? '' : `, first other token at ${sameTokens} of ${output.n_tokens}`;
  return {
    file: path,
    outcome: !isSame ? 'drift' : isSameTrace && wrong.length === 0 ? 'exact' : 'same_tokens',
    detail: [
      `${output.n_tokens} tokens${isSame ? '' : where}`,
      ...(wrong.length === 0 ? [] : [`differing: ${wrong.join(', ')}`]),
      ...(terms === '' ? [] : [`[${terms}]`]),
    ].join(' '),
    sameTokens,
    recordedTokens: output.n_tokens,
    isSameText,
    terms,
    tokensPerS: result.tokensPerS,
    reportedTokensPerS: reportedSpeed,
  };
}

const computedOtherwise = (findings: readonly Finding[]): string[] =>
  findings.filter(({ name, outcome }) => outcome === 'failed' && name !== 'answer').map(({ name }) => name);

/** Compares on any terms and server version: a replay after an upgrade looks for changed answers. */
function answeredOtherwise(statement: Statement, result: Replayed, isSameText: boolean): string[] {
  if (!isSameText) return ['words'];
  return saysWhatWasAnswered(statement, null, result) ? [] : ['log probabilities'];
}

function commonTokens(recorded: Buffer | null, now: Buffer): number | null {
  if (recorded === null) return null;
  let same = 0;
  while (same + 4 <= Math.min(recorded.length, now.length)) {
    if (recorded.readUInt32LE(same) !== now.readUInt32LE(same)) break;
    same += 4;
  }
  return same / 4;
}

const notRun = (file: string, outcome: Drift['outcome'], detail: string): Drift => ({
  file,
  outcome,
  detail,
  sameTokens: null,
  recordedTokens: null,
  isSameText: null,
  terms: '',
  tokensPerS: null,
  reportedTokensPerS: null,
});
