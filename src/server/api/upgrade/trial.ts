import { isSvcError, errorMessage } from '../../../lib/errors/svc-error.ts';
import { CHECK_CASES } from '../check/cases.ts';
import { type Distance, distanceOf } from '../eval/compare.ts';
import { findingsOf } from '../eval/findings.ts';
import type { Measurement } from '../eval/measure.ts';
import type { Replayed, Reply } from './answers.ts';
import type { RecordedRequest } from './recorded.ts';
import type { MeasureWork, Side } from './side.ts';

export interface TrialOptions extends MeasureWork {
  readonly present: Side;
  readonly candidate: Side;
  readonly isSameModel: boolean;
  readonly requests: readonly RecordedRequest[];
  readonly measuresSpeed: boolean;
}

export interface TrialFigures {
  readonly isSameModel: boolean;
  readonly texts: Distance;
  readonly findings: readonly string[];
  readonly cases: CaseFigures;
  readonly requests: RequestFigures | null;
  /** Ratio of times for a prompt and an answer: above 1 the candidate is faster; null: not measured. */
  readonly speedRatio: number | null;
  readonly memory: { readonly present: number; readonly candidate: number };
}

export interface CaseFigures {
  readonly tried: number;
  readonly passedBefore: number;
  readonly passed: number;
  readonly lost: readonly string[];
}

export interface RequestFigures {
  readonly replayed: number;
  readonly validBefore: number;
  readonly valid: number;
  readonly lost: readonly string[];
  readonly same: number;
  readonly distance: Distance;
}

export type Trial = { readonly figures: TrialFigures } | { readonly failed: string };

export async function tryUpgrade(options: TrialOptions): Promise<Trial> {
  const { present, candidate, requests, signal, onProgress } = options;
  const other = await present.measure(options);
  const before = await present.replay({ requests, signal, onProgress });
  try {
    const one = await candidate.measure(options);
    const now = await candidate.replay({ requests, replies: before.replies, signal, onProgress });
    return {
      figures: {
        isSameModel: options.isSameModel,
        texts: distanceOf(one, other),
        findings: findingsOf(one, other, null),
        cases: caseFigures(one, other),
        requests: requests.length === 0 ? null : requestFigures({ one, other, before, now }),
        speedRatio: options.measuresSpeed ? await speedRatio(options, { one, other }) : null,
        memory: { present: other.memoryBytes, candidate: one.memoryBytes },
      },
    };
  } catch (error) {
    signal.throwIfAborted();
    // The present side has succeeded before, so the candidate's failure is the result.
    if (!isSvcError(error)) throw error;
    return { failed: errorMessage(error) };
  }
}

function caseFigures({ cases: now }: Measurement, { cases: before }: Measurement): CaseFigures {
  const tried = Math.min(now.all - now.left, before.all - before.left);
  const names = new Set(CHECK_CASES.slice(0, tried).map(({ name }) => name));
  const failed = ({ failed: list }: Measurement['cases']): Set<string> =>
    new Set(list.map(({ name }) => name).filter((name) => names.has(name)));
  const [failedNow, failedBefore] = [failed(now), failed(before)];
  return {
    tried,
    passedBefore: tried - failedBefore.size,
    passed: tried - failedNow.size,
    lost: [...failedNow].filter((name) => !failedBefore.has(name)),
  };
}

interface Sides {
  readonly one: Measurement;
  readonly other: Measurement;
  readonly before: Replayed;
  readonly now: Replayed;
}

function requestFigures({ one, other, before, now }: Sides): RequestFigures {
  const pairs = before.replies.flatMap((reply, at) => {
    const next = now.replies[at] ?? null;
    const name = before.texts[at]?.name ?? '';
    return reply === null || next === null ? [] : [{ name, reply, next }];
  });
  return {
    replayed: pairs.length,
    validBefore: pairs.filter(({ reply }) => 'turn' in reply).length,
    valid: pairs.filter(({ next }) => 'turn' in next).length,
    lost: pairs.flatMap(({ name, reply, next }) => ('turn' in reply && 'fault' in next ? [name] : [])),
    same: pairs.filter(({ reply, next }) => inWords(reply) === inWords(next)).length,
    distance: distanceOf({ ...one, texts: now.texts }, { ...other, texts: before.texts }),
  };
}

/** Ids of calls differ from answer to answer. */
function inWords(reply: Reply): string {
  if ('fault' in reply) return reply.fault;
  const { content, reasoning, toolCalls = [] } = reply.turn;
  return JSON.stringify([
    content,
    reasoning,
    toolCalls.map(({ name, argumentsJson }) => [name, argumentsJson]),
  ]);
}

/** Loads per side: other programs only slow one down, so the best of several counts. */
const MOST_TURNS = 4;
/** At this ratio further turns cannot change the verdict. */
const FAST_ENOUGH = 0.95;

/** Alternates the sides so that other load affects both, until the candidate is as fast or the turns are used up. */
async function speedRatio(
  { present, candidate, signal, onProgress }: TrialOptions,
  { one, other }: Pick<Sides, 'one' | 'other'>,
): Promise<number> {
  const allTokens = ({ texts }: Measurement): number[] =>
    texts.flatMap((text) => text.tokens.map(({ id }) => id));
  let [leastBefore, least] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let turn = 0; turn < MOST_TURNS; turn += 1) {
    onProgress(`Speed, turn ${turn + 1} …`);
    leastBefore = Math.min(leastBefore, await present.leastMs(allTokens(other), signal));
    least = Math.min(least, await candidate.leastMs(allTokens(one), signal));
    if (leastBefore / least >= FAST_ENOUGH) break;
  }
  return leastBefore / least;
}
