/** Figures of a measurement, and how far one model is from another. Pure. */
import type { NotTried, TextFigures } from '../../../trust/evidence/eval-statement.ts';
import type { Measurement, Predictions, Reference, ScoredText, TokenScore } from './measure.ts';

export interface Distance {
  readonly reference: string;
  /** Tokens that both models predicted; 0: they split text differently. */
  readonly tokens: number;
  readonly sameChoice: number;
  /** Mean divergence from the reference per token, nats; at least this much, because only the likeliest tokens are known. */
  readonly divergence: number;
  readonly lossRatio: number;
}

/** Over those of the reference; null: its own are not known. */
export interface Costs {
  readonly readRatio: number | null;
  readonly writtenRatio: number | null;
  readonly memoryRatio: number | null;
}

export const lossOf = (tokens: readonly TokenScore[]): number =>
  tokens.reduce((sum, { logprob }) => sum - logprob, 0);
const tokensOf = (texts: readonly ScoredText[]): TokenScore[] => texts.flatMap(({ tokens }) => tokens);
const bytesOf = (texts: readonly ScoredText[]): number => texts.reduce((sum, { bytes }) => sum + bytes, 0);
const bitsPerByte = (texts: readonly ScoredText[]): number =>
  lossOf(tokensOf(texts)) / Math.LN2 / bytesOf(texts);

/** Null for what canonical JSON cannot hold, such as the perplexity of a model that has learned nothing. */
export const figure = (value: number | null): number | null =>
  value !== null && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : null;

/** Figures of some texts. `reference`: the same texts by the reference; null without one. */
export function figuresOf(
  name: string,
  texts: readonly ScoredText[],
  reference: readonly ScoredText[] | null,
): TextFigures {
  const tokens = tokensOf(texts);
  const pairs = reference === null ? [] : pairsOf(texts, reference);
  return {
    name,
    tokens: tokens.length,
    perplexity: figure(Math.exp(lossOf(tokens) / tokens.length)),
    bits_per_byte: figure(bitsPerByte(texts)),
    same_choice: figure(sameShare(pairs)),
    reference_bits_per_byte: reference === null ? null : figure(bitsPerByte(reference)),
  };
}

export function distanceOf(
  candidate: Pick<Predictions, 'texts'>,
  reference: Pick<Reference, 'model' | 'texts'>,
): Distance {
  const pairs = pairsOf(candidate.texts, reference.texts);
  const divergence = pairs.reduce((sum, [own, other]) => sum + divergenceOf(own, other), 0);
  return {
    reference: reference.model,
    tokens: pairs.length,
    sameChoice: pairs.length === 0 ? 0 : sameShare(pairs),
    divergence: pairs.length === 0 ? 0 : divergence / pairs.length,
    lossRatio: bitsPerByte(candidate.texts) / bitsPerByte(reference.texts),
  };
}

export function compareCosts(candidate: Measurement, reference: Reference): Costs {
  const over = (own: number, other: number | null): number | null => (other === null ? null : own / other);
  return {
    readRatio: over(candidate.readPerS, reference.readPerS),
    writtenRatio: over(candidate.writtenPerS, reference.writtenPerS),
    memoryRatio: over(candidate.memoryBytes, reference.memoryBytes),
  };
}

type Pair = readonly [own: TokenScore, other: TokenScore];

const sameShare = (pairs: readonly Pair[]): number =>
  pairs.filter(([own, other]) => own.top[0]?.[0] === other.top[0]?.[0]).length / pairs.length;

/** Tokens of texts that both models split alike. */
function pairsOf(candidate: readonly ScoredText[], reference: readonly ScoredText[]): Pair[] {
  return candidate.flatMap((text, at) => {
    const other = reference[at];
    if (other === undefined || !isSplitAlike(text, other)) return [];
    return text.tokens.flatMap((token, place): Pair[] => {
      const pair = other.tokens[place];
      return pair === undefined ? [] : [[token, pair]];
    });
  });
}

export const isSplitAlike = ({ tokens }: ScoredText, other: ScoredText): boolean =>
  tokens.length === other.tokens.length && tokens.every(({ id }, at) => id === other.tokens[at]?.id);

/**
 * KL divergence of two distributions of which the likeliest tokens are known: those that both know count by themselves, all
 * others as one. Lumping tokens together never makes the divergence larger.
 */
export function divergenceOf(own: TokenScore, reference: TokenScore): number {
  const known = likelihoods(own);
  let [sum, ownRest, referenceRest] = [0, 1, 1];
  for (const [id, logprob] of likelihoods(reference)) {
    const other = known.get(id);
    if (other === undefined) continue;
    sum += Math.exp(logprob) * (logprob - other);
    referenceRest -= Math.exp(logprob);
    ownRest -= Math.exp(other);
  }
  const isRest = referenceRest > LEAST_REST && ownRest > LEAST_REST;
  return Math.max(0, sum + (isRest ? referenceRest * Math.log(referenceRest / ownRest) : 0));
}

/** What is left of 1 is no more than rounding below this. */
const LEAST_REST = 1e-9;

const likelihoods = ({ id, logprob, top }: TokenScore): Map<number, number> => new Map(top).set(id, logprob);

/** Chosen: shares of tokens at which people notice no difference, or a small one. */
const LIKE = 0.95;
const NEAR = 0.85;

export const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
export const rounded = (value: number): string => (value < 100 ? value.toFixed(2) : value.toFixed(0));

/** The verdict in one sentence, with what it does not stand on. */
export function verdictOf(candidate: Measurement, reference: Reference | null): string {
  const costs = reference === null ? null : compareCosts(candidate, reference);
  const parts = [
    reference === null
      ? `Needs ${rounded(bitsPerByte(candidate.texts))} bits per byte of text`
      : likenessOf(distanceOf(candidate, reference)),
    ...casesWords(candidate),
    ...candidate.notTried.map(notTriedWords),
    ...needleWords(candidate),
    ...ratioWords(costs?.writtenRatio, 'as fast'),
    ...ratioWords(costs?.memoryRatio, 'the memory'),
  ];
  return `${parts.join('; ')}.`;
}

function casesWords({ cases: { passed, all, left } }: Measurement): string[] {
  if (all === left) return [];
  return [`calls and JSON ${passed} of ${all - left}${left > 0 ? ' tried' : ''}`];
}

function needleWords({ needle }: Measurement): string[] {
  if (needle === null) return [];
  const { facts, missed, tokens, window } = needle;
  const of = tokens < window ? ` of a window of ${window}` : '';
  return [`recalls ${facts - missed.length} of ${facts} facts in ${tokens} tokens${of}`];
}

const notTriedWords = (each: NotTried): string => `${untriedPart(each)} not tried, because ${each.why}`;

export const untriedPart = ({ what, count }: NotTried): string =>
  `${count === null ? '' : `${count} of the `}${what}`;

const ratioWords = (ratio: number | null | undefined, of: string): string[] =>
  ratio === null || ratio === undefined ? [] : [`${rounded(ratio)} times ${of}`];

function likenessOf({ reference, sameChoice, tokens, lossRatio }: Distance): string {
  const share = percent(sameChoice);
  if (tokens === 0) return `Needs ${rounded(lossRatio)} times the bits of ${reference}`;
  if (sameChoice >= LIKE) return `Answers like ${reference} in ${share} of tokens`;
  const bits = `${share} of tokens, and ${rounded(lossRatio)} times its bits`;
  if (sameChoice >= NEAR) return `Close to ${reference}: the same choice in ${bits}`;
  return `Differs from ${reference}: the same choice in only ${bits}`;
}
