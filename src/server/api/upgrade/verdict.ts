import type { Distance } from '../eval/compare.ts';
import { BETTER_LOSS, ROUNDING } from '../eval/findings.ts';
import type { Trial, TrialFigures } from './trial.ts';

export type Verdict = 'switch' | 'look' | 'keep';

export interface Judgement {
  readonly verdict: Verdict;
  readonly reasons: readonly string[];
}

/**
 * For equal weights: another library rounds differently, which changes few tokens and hardly the distribution. Chosen
 * by comparing libraries for other processors with libraries that compute something else.
 */
const SAME_WEIGHTS = {
  harmless: ROUNDING,
  wrong: { sameChoice: 0.9, divergence: 0.1 },
} as const;
/** For other weights: tolerated ratio of the bits for the same text. */
const HARMLESS_LOSS = 1.02;
/** Share of the answers that may become invalid by chance. */
const LOST_SHARE = 0.05;
const SLOWER = 0.8;
const LARGER = 1.2;
/** With fewer tokens a share is not meaningful. */
const LEAST_TOKENS = 200;

interface Reason {
  readonly verdict: 'look' | 'keep';
  readonly words: string;
}

export function judge(trial: Trial): Judgement {
  if ('failed' in trial) return { verdict: 'keep', reasons: [`It cannot run: ${trial.failed}`] };
  const { figures } = trial;
  const reasons = [
    ...likeness(figures),
    ...validity(figures),
    ...costs(figures),
    ...figures.leftOut.map((what) => ({
      verdict: 'look' as const,
      words: `The comparison ended before ${what} were compared.`,
    })),
  ];
  const kept = reasons.filter(({ verdict }) => verdict === 'keep');
  const looked = reasons.filter(({ verdict }) => verdict === 'look');
  const verdict = kept.length > 0 ? 'keep' : looked.length > 0 ? 'look' : 'switch';
  return { verdict, reasons: [...kept, ...looked].map(({ words }) => words) };
}

function likeness({ isSameModel, texts, findings, requests }: TrialFigures): Reason[] {
  const measured = [
    { distance: texts, on: 'the texts of the set' },
    ...(requests === null ? [] : [{ distance: requests.distance, on: 'your requests' }]),
  ].filter(({ distance }) => distance.tokens >= LEAST_TOKENS);
  if (isSameModel) {
    const drift = measured.flatMap(({ distance, on }) => judgeDrift(distance, on));
    if (drift.some(({ verdict }) => verdict === 'keep')) return drift;
    const verdict = texts.tokens === 0 ? 'keep' : 'look';
    return [...findings.map((words) => ({ verdict, words }) as const), ...drift];
  }
  const isBetter = texts.tokens > 0 && texts.lossRatio <= BETTER_LOSS;
  if (findings.length > 0)
    return findings.map((words) => ({ verdict: isBetter ? ('look' as const) : ('keep' as const), words }));
  return measured
    .filter(({ distance }) => !(distance.lossRatio <= HARMLESS_LOSS))
    .map(({ distance, on }) => ({
      verdict: 'look',
      words: `It needs ${distance.lossRatio.toFixed(2)} times the bits for ${on}.`,
    }));
}

function judgeDrift({ sameChoice, divergence }: Distance, on: string): Reason[] {
  const { harmless, wrong } = SAME_WEIGHTS;
  const figures = `${percent(1 - sameChoice)} of the next tokens in ${on}, with a divergence of ${divergence.toFixed(4)} nats`;
  const isWithin = (limit: { readonly sameChoice: number; readonly divergence: number }): boolean =>
    sameChoice >= limit.sameChoice && divergence <= limit.divergence;
  if (!isWithin(wrong)) {
    return [
      { verdict: 'keep', words: `It computes something else from the same weights: it changes ${figures}.` },
    ];
  }
  if (!isWithin(harmless))
    return [{ verdict: 'look', words: `It changes ${figures}, which is more than rounding does.` }];
  return [];
}

function validity({ cases, requests }: TrialFigures): Reason[] {
  return [
    ...judgeLost({ lost: cases.lost, tried: cases.tried, what: 'calls and JSON answers of the set' }),
    ...(requests === null
      ? []
      : judgeLost({ lost: requests.lost, tried: requests.replayed, what: 'answers to your requests' })),
  ];
}

interface Lost {
  readonly lost: readonly string[];
  readonly tried: number;
  readonly what: string;
}

function judgeLost({ lost, tried, what }: Lost): Reason[] {
  if (lost.length === 0) return [];
  const verdict = lost.length > Math.max(1, LOST_SHARE * tried) ? 'keep' : 'look';
  return [{ verdict, words: `${lost.length} of ${tried} ${what} are not valid any more: ${named(lost)}.` }];
}

const MOST_NAMES = 5;
const named = (names: readonly string[]): string =>
  `${names.slice(0, MOST_NAMES).join(', ')}${names.length > MOST_NAMES ? ', …' : ''}`;

function costs({ speedRatio, memory }: TrialFigures): Reason[] {
  const memoryRatio = memory.candidate / memory.present;
  return [
    ...(speedRatio !== null && !(speedRatio >= SLOWER)
      ? [{ verdict: 'look' as const, words: `It is only ${speedRatio.toFixed(2)} times as fast.` }]
      : []),
    ...(!(memoryRatio <= LARGER)
      ? [{ verdict: 'look' as const, words: `It takes ${memoryRatio.toFixed(2)} times the memory.` }]
      : []),
  ];
}

export const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
