import { isSvcError, errorMessage } from '../../../lib/errors/svc-error.ts';
import { CHECK_CASES } from '../check/cases.ts';
import { EVAL_TEXTS } from '../eval/texts.ts';
import { type Distance, distanceOf } from '../eval/compare.ts';
import { findingsOf } from '../eval/findings.ts';
import type { Measurement } from '../eval/measure.ts';
import type { Replayed, Reply } from './answers.ts';
import type { RecordedRequest } from './recorded.ts';
import type { MeasureWork, Side } from './side.ts';

export interface TrialOptions extends MeasureWork {
  readonly hurry: AbortSignal;
  readonly present: Side;
  readonly candidate: Side;
  readonly isSameModel: boolean;
  readonly requests: readonly RecordedRequest[];
  readonly measuresSpeed: boolean;
}

/** Of the time, for each side; the rest is for recorded requests and speed. */
const MEASURE_SHARE = 0.4;
const SHARE_WITH_REQUESTS = 0.25;

export interface TrialFigures {
  readonly isSameModel: boolean;
  readonly texts: Distance;
  /** Parts that were not compared, because the time was over. */
  readonly leftOut: readonly string[];
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
  const { present, candidate, requests, signal, onProgress, withinMs } = options;
  const hurry = AbortSignal.any([options.hurry, AbortSignal.timeout(withinMs)]);
  const share = requests.length === 0 ? MEASURE_SHARE : SHARE_WITH_REQUESTS;
  const work = { ...options, withinMs: withinMs * share };
  const measured = await present.measure(work);
  const before = await present.replay({ requests, signal, hurry, onProgress });
  try {
    const measuredNow = await candidate.measure(work);
    const now = await candidate.replay({ requests, replies: before.replies, signal, hurry, onProgress });
    const [one, other] = withSameTexts(measuredNow, measured);
    const cases = caseFigures(one, other);
    const replayed = requests.length === 0 ? null : requestFigures({ one, other, before, now });
    const isOver = hurry.aborted;
    return {
      figures: {
        isSameModel: options.isSameModel,
        texts: distanceOf(one, other),
        leftOut: [
          ...leftOut('texts', one.texts.length, EVAL_TEXTS.length),
          ...(options.casesWithinMs === null
            ? []
            : leftOut('calls and JSON answers', cases.tried, CHECK_CASES.length)),
          ...(isOver ? leftOut('recorded requests', replayed?.replayed ?? 0, requests.length) : []),
        ],
        findings: findingsOf(one, other, null),
        cases,
        requests: replayed,
        speedRatio: options.measuresSpeed ? await speedRatio({ ...options, hurry }, { one, other }) : null,
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

/** A side that had less time scored fewer of the texts. */
function withSameTexts(one: Measurement, other: Measurement): readonly [Measurement, Measurement] {
  const count = Math.min(one.texts.length, other.texts.length);
  const cut = (side: Measurement): Measurement => ({ ...side, texts: side.texts.slice(0, count) });
  return [cut(one), cut(other)];
}

const leftOut = (what: string, done: number, all: number): string[] =>
  done < all ? [`${all - done} of ${all} ${what}`] : [];

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
  { present, candidate, signal, hurry, onProgress }: TrialOptions,
  { one, other }: Pick<Sides, 'one' | 'other'>,
): Promise<number | null> {
  const allTokens = ({ texts }: Measurement): number[] =>
    texts.flatMap((text) => text.tokens.map(({ id }) => id));
  const inTime = AbortSignal.any([signal, hurry]);
  let [leastBefore, least] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  try {
    for (let turn = 0; turn < MOST_TURNS; turn += 1) {
      inTime.throwIfAborted();
      onProgress(`Speed, turn ${turn + 1} of at most ${MOST_TURNS} …`);
      leastBefore = Math.min(leastBefore, await present.leastMs(allTokens(other), inTime));
      least = Math.min(least, await candidate.leastMs(allTokens(one), inTime));
      if (leastBefore / least >= FAST_ENOUGH) break;
    }
    return leastBefore / least;
  } catch (error) {
    // Fewer turns than that say too little of a candidate that seems slower.
    if (!hurry.aborted || signal.aborted) throw error;
    return null;
  }
}
