/** hearth evidence replay: what the present installation makes of requests that were answered before. */
import { checkReplay } from '../evidence/compare.ts';
import type { Predicate } from '../evidence/statement.ts';
import { checkSignature } from '../evidence/verify.ts';
import { canonicalSha256 } from '../identity/canonical.ts';
import type { CliContext } from './context.ts';
import { readJsonFile, readKeyring, readRecord } from './evidence-files.ts';
import {
  createReplayer,
  NotComparable,
  type ReplayModel,
  type Replayer,
  type ReplayResult,
} from './replay.ts';
import { findModel } from './verify-record.ts';

export interface Drift {
  readonly file: string;
  /** `exact`: tokens and logits; `same_tokens`: the logits differ in some bit; `drift`: other tokens. */
  readonly outcome: 'exact' | 'same_tokens' | 'drift' | 'not_comparable';
  readonly detail: string;
  /** Tokens that are equal from the beginning, and how many there were. */
  readonly sameTokens: number | null;
  readonly recordedTokens: number | null;
  /** What would count as another execution; empty on equal terms. */
  readonly terms: string;
  readonly tokensPerS: number | null;
  readonly reportedTokensPerS: number | null;
}

/** Records of one model share a worker; a record whose signature does not hold here is still run, and says so. */
export async function replayFolder(
  context: CliContext,
  files: readonly string[],
  modelFile: string | undefined,
): Promise<Drift[]> {
  const config = context.config();
  const keyring = await readKeyring(config.home, undefined);
  const workers = new Map<string, Replayer>();
  const drifts: Drift[] = [];
  try {
    for (const file of files) {
      const { record, reportedSpeed } = await readRecord(file);
      const { statement } = checkSignature(record, keyring);
      if (statement === null) {
        drifts.push(notComparable(file, 'its signature does not hold by a key of this home'));
        continue;
      }
      const claimed = statement.predicate;
      const model = await findModel(config, claimed, modelFile);
      if (model === null) {
        drifts.push(notComparable(file, `model ${claimed.model.id} is not installed here`));
        continue;
      }
      const replayer = workers.get(model.path) ?? createReplayer(context, model);
      workers.set(model.path, replayer);
      context.note(`Replaying ${file}`);
      drifts.push(
        await driftOf(file, { claimed, model, replayer, recorded: record.outputTokens, reportedSpeed }),
      );
    }
  } finally {
    await Promise.all([...workers.values()].map((worker) => worker.close()));
  }
  return drifts;
}

async function driftOf(
  file: string,
  one: {
    readonly claimed: Predicate;
    readonly model: ReplayModel;
    readonly replayer: Replayer;
    readonly recorded: Buffer | null;
    readonly reportedSpeed: number | null;
  },
): Promise<Drift> {
  const { claimed, replayer, recorded, reportedSpeed } = one;
  let result: ReplayResult;
  try {
    const { value } = await readJsonFile(file.replace(/\.json$/, '.request.json'));
    if (canonicalSha256(value) !== claimed.request.canonical_sha256) {
      return notComparable(file, 'the request beside it is not the one that was answered');
    }
    result = await replayer.replay(claimed, value, claimed.exec.n_threads);
  } catch (error) {
    if (!(error instanceof NotComparable)) throw error;
    return notComparable(file, error.message);
  }
  const terms = checkReplay(claimed, result).find(({ outcome }) => outcome === 'incomparable')?.detail ?? '';
  const isSame = claimed.output.tokens_sha256 === result.output.tokens_sha256;
  const isExact = isSame && claimed.output.trace_sha256 === result.output.trace_sha256;
  const sameTokens = isSame ? claimed.output.n_tokens : commonTokens(recorded, result.tokens);
  const where =
    sameTokens === null ? '' : `, first other token at ${sameTokens} of ${claimed.output.n_tokens}`;
  return {
    file,
    outcome: isExact ? 'exact' : isSame ? 'same_tokens' : 'drift',
    detail: `${claimed.output.n_tokens} tokens${isSame ? '' : where}${terms === '' ? '' : ` [${terms}]`}`,
    sameTokens,
    recordedTokens: claimed.output.n_tokens,
    terms,
    tokensPerS: result.tokensPerS,
    reportedTokensPerS: reportedSpeed,
  };
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

const notComparable = (file: string, detail: string): Drift => ({
  file,
  outcome: 'not_comparable',
  detail,
  sameTokens: null,
  recordedTokens: null,
  terms: '',
  tokensPerS: null,
  reportedTokensPerS: null,
});
