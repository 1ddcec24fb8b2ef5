/** Figures of a measurement, and how far one model is from another. Pure. */
import type { PromptToken } from '../../contract/job-event.ts';
import type { Measurement, ScoredText } from './measure.ts';

/** How well a model predicts a text. */
export interface TextFigures {
  readonly name: string;
  readonly tokens: number;
  readonly perplexity: number;
  /** The same per byte, which models with different vocabularies can be compared by. */
  readonly bitsPerByte: number;
}

export interface Distance {
  readonly reference: string;
  /** Tokens that both models predicted; 0: they split text differently. */
  readonly tokens: number;
  /** The share of tokens whose likeliest next token is the same. */
  readonly sameChoice: number;
  /** Mean divergence from the reference per token, nats; at least this much, because only the likeliest tokens are known. */
  readonly divergence: number;
  /** Bits per byte over those of the reference. */
  readonly lossRatio: number;
  readonly readRatio: number;
  readonly writtenRatio: number;
  readonly memoryRatio: number;
}

type Scored = PromptToken & { readonly score: NonNullable<PromptToken['score']> };

const scoredOf = ({ tokens }: ScoredText): Scored[] =>
  tokens.filter((token): token is Scored => token.score !== null);
const lossOf = (tokens: readonly Scored[]): number =>
  tokens.reduce((sum, { score }) => sum - score.logprob, 0);

export function figuresOf(texts: readonly ScoredText[], name: string): TextFigures {
  const tokens = texts.flatMap(scoredOf);
  const loss = lossOf(tokens);
  const bytes = texts.reduce((sum, text) => sum + text.bytes, 0);
  return {
    name,
    tokens: tokens.length,
    perplexity: Math.exp(loss / tokens.length),
    bitsPerByte: loss / Math.LN2 / bytes,
  };
}

export function distanceOf(candidate: Measurement, reference: Measurement): Distance {
  const pairs = pairsOf(candidate, reference);
  const same = pairs.filter(([own, other]) => own.score.top[0]?.id === other.score.top[0]?.id).length;
  const divergence = pairs.reduce((sum, [own, other]) => sum + divergenceOf(own, other), 0);
  const bits = (texts: readonly ScoredText[]): number => figuresOf(texts, '').bitsPerByte;
  return {
    reference: reference.model,
    tokens: pairs.length,
    sameChoice: pairs.length === 0 ? 0 : same / pairs.length,
    divergence: pairs.length === 0 ? 0 : divergence / pairs.length,
    lossRatio: bits(candidate.texts) / bits(reference.texts),
    readRatio: candidate.readPerS / reference.readPerS,
    writtenRatio: candidate.writtenPerS / reference.writtenPerS,
    memoryRatio: candidate.memoryBytes / reference.memoryBytes,
  };
}

/** Tokens of texts that both models split alike. */
function pairsOf(candidate: Measurement, reference: Measurement): [Scored, Scored][] {
  return candidate.texts.flatMap((text, at) => {
    const [own, other] = [
      scoredOf(text),
      scoredOf(reference.texts[at] ?? { name: '', bytes: 0, tokens: [] }),
    ];
    const isAlike = own.length === other.length && own.every(({ id }, place) => id === other[place]?.id);
    return isAlike ? own.flatMap((token, place): [Scored, Scored][] => pair(token, other[place])) : [];
  });
}

const pair = (own: Scored, other: Scored | undefined): [Scored, Scored][] =>
  other === undefined ? [] : [[own, other]];

/**
 * KL divergence of two distributions of which the likeliest tokens are known: those that both know count by themselves, all
 * others as one. Lumping tokens together never makes the divergence larger.
 */
export function divergenceOf(own: Scored, reference: Scored): number {
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

function likelihoods({ id, score }: Scored): Map<number, number> {
  const found = new Map(
    score.top.flatMap((each) => (each.id === undefined ? [] : [[each.id, each.logprob] as const])),
  );
  return found.set(id, score.logprob);
}

/** Chosen: shares of tokens at which people notice no difference, or a small one. */
const LIKE = 0.95;
const NEAR = 0.85;

/** Chosen by the seeded defects of the tests: unchanged models and good quants stay far below, damaged ones far above. */
const DAMAGED_LOSS = 1.25;
const GROWTH = 2;
const LEAST_GROWTH = 0.15;

/** What is wrong with a model beside its reference, as far as the figures show it, in sentences. */
export function findingsOf(candidate: Measurement, reference: Measurement): string[] {
  const found: string[] = [];
  const other = reference.model;
  const { tokens, lossRatio, sameChoice } = distanceOf(candidate, reference);
  if (tokens === 0)
    found.push(`It splits text into other tokens than ${other}: another vocabulary, or a damaged one.`);
  if (candidate.rendered !== reference.rendered)
    found.push(`It puts a conversation in other words than ${other}: another chat template.`);
  const growth = growthOf(candidate, reference);
  if (growth !== null) {
    found.push(
      `It gets worse along a text (${rounded(growth.early)} nats per token at the beginning, ${rounded(growth.late)} at the end, compared with ${other}): its rotary base, scaling or window differs.`,
    );
  } else if (lossRatio > DAMAGED_LOSS || (tokens > 0 && sameChoice < NEAR)) {
    const others =
      tokens === 0
        ? ''
        : `chooses another next token than ${other} in ${percent(1 - sameChoice)} of places, and `;
    found.push(
      `It ${others}needs ${rounded(lossRatio)} times the bits of ${other} for the same text: too coarse a quant, or damaged weights.`,
    );
  }
  return found;
}

/** By how much more a token surprises it than the reference, at both ends of texts; null: equally. */
function growthOf(
  candidate: Measurement,
  reference: Measurement,
): { readonly early: number; readonly late: number } | null {
  const excess = (part: (tokens: readonly Scored[]) => readonly Scored[]): number => {
    const mean = (texts: readonly ScoredText[]): number => {
      const tokens = texts.flatMap((text) => part(scoredOf(text)));
      return lossOf(tokens) / tokens.length;
    };
    return mean(candidate.texts) - mean(reference.texts);
  };
  const early = excess((tokens) => tokens.slice(0, Math.floor(tokens.length / 8)));
  const late = excess((tokens) => tokens.slice(Math.floor(tokens.length / 2)));
  return late - early > LEAST_GROWTH && late > GROWTH * Math.max(0, early) ? { early, late } : null;
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const rounded = (value: number): string => (value < 100 ? value.toFixed(2) : value.toFixed(0));

/** The verdict in one sentence. */
export function verdictOf(candidate: Measurement, distance: Distance | null): string {
  const { passed, all, left } = candidate.cases;
  const cases = all === 0 ? 'calls and JSON not tried' : `calls and JSON ${passed} of ${all - left}`;
  if (distance === null)
    return `Needs ${rounded(figuresOf(candidate.texts, '').bitsPerByte)} bits per byte of text; ${cases}.`;
  const { reference, sameChoice, writtenRatio, memoryRatio, tokens, lossRatio } = distance;
  const share = percent(sameChoice);
  const likeness =
    tokens === 0
      ? `Needs ${rounded(lossRatio)} times the bits of ${reference}`
      : sameChoice >= LIKE
        ? `Answers like ${reference} in ${share} of tokens`
        : sameChoice >= NEAR
          ? `Close to ${reference}: the same choice in ${share} of tokens`
          : `Differs from ${reference}: the same choice in only ${share} of tokens`;
  return `${likeness}; ${cases}; ${rounded(writtenRatio)} times as fast; ${rounded(memoryRatio)} times the memory.`;
}
