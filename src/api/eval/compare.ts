/** Figures of a measurement, and how far one model is from another. Pure. */
import type { OtherTensors } from '../../store/registry/tensors.ts';
import type { TextFigures } from '../../trust/evidence/eval-statement.ts';
import type { Measurement, ScoredText, TokenScore } from './measure.ts';

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

const lossOf = (tokens: readonly TokenScore[]): number =>
  tokens.reduce((sum, { logprob }) => sum - logprob, 0);
const tokensOf = (texts: readonly ScoredText[]): TokenScore[] => texts.flatMap(({ tokens }) => tokens);
const bytesOf = (texts: readonly ScoredText[]): number => texts.reduce((sum, { bytes }) => sum + bytes, 0);
const bitsPerByte = (texts: readonly ScoredText[]): number =>
  lossOf(tokensOf(texts)) / Math.LN2 / bytesOf(texts);

/** JSON knows no other numbers. */
export const figure = (value: number): number | null => (Number.isFinite(value) ? value : null);

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

export function distanceOf(candidate: Measurement, reference: Measurement): Distance {
  const pairs = pairsOf(candidate.texts, reference.texts);
  const divergence = pairs.reduce((sum, [own, other]) => sum + divergenceOf(own, other), 0);
  return {
    reference: reference.model,
    tokens: pairs.length,
    sameChoice: pairs.length === 0 ? 0 : sameShare(pairs),
    divergence: pairs.length === 0 ? 0 : divergence / pairs.length,
    lossRatio: bitsPerByte(candidate.texts) / bitsPerByte(reference.texts),
    readRatio: candidate.readPerS / reference.readPerS,
    writtenRatio: candidate.writtenPerS / reference.writtenPerS,
    memoryRatio: candidate.memoryBytes / reference.memoryBytes,
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

const isSplitAlike = ({ tokens }: ScoredText, other: ScoredText): boolean =>
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

/** Chosen by the seeded defects of the tests: unchanged models and good quants stay far below, damaged ones far above. */
const DAMAGED_LOSS = 1.25;
const GROWTH = 2;
const LEAST_GROWTH = 0.15;
/** Facts that a model recalls fewer than its reference. */
const LOST_FACTS = 2;
/** Bits of a weight below which a quant may lose so much, and how much coarser than the reference it is then. */
const COARSE_BITS = 5;
const COARSER = 0.8;

/** Whether it predicts so much worse that its weights are worth a comparison. */
export const losesPredictions = (candidate: Measurement, reference: Measurement): boolean =>
  vocabularyFinding(candidate, reference) === null && predictionFinding(candidate, reference, null) !== null;

/**
 * Names in sentences what is wrong with a model, as far as the figures show it. `tensors`: those that differ from the
 * reference; null: they were not compared.
 */
export function findingsOf(
  candidate: Measurement,
  reference: Measurement,
  tensors: OtherTensors | null = null,
): string[] {
  const words = vocabularyFinding(candidate, reference);
  // Other tokens are predicted worse whatever the weights are.
  const lost = words === null ? predictionFinding(candidate, reference, tensors) : null;
  return [
    words,
    candidate.rendered === reference.rendered
      ? null
      : `It puts a conversation in other words than ${reference.model}: another chat template.`,
    lost,
    words === null && lost === null ? recallFinding(candidate, reference) : null,
  ].filter((finding) => finding !== null);
}

function vocabularyFinding(candidate: Measurement, reference: Measurement): string | null {
  const { texts } = candidate;
  const others = texts.filter((text, at) => {
    const other = reference.texts[at];
    return other !== undefined && !isSplitAlike(text, other);
  }).length;
  if (others === 0) return null;
  const { lossRatio } = distanceOf(candidate, reference);
  const bits = lossRatio <= DAMAGED_LOSS ? '' : `, and needs ${rounded(lossRatio)} times the bits`;
  return `It splits ${others} of ${texts.length} texts into other tokens than ${reference.model}${bits}: another vocabulary, or a damaged one.`;
}

function predictionFinding(
  candidate: Measurement,
  reference: Measurement,
  tensors: OtherTensors | null,
): string | null {
  const other = reference.model;
  const { lossRatio, sameChoice } = distanceOf(candidate, reference);
  const growth = growthOf(candidate, reference);
  if (growth !== null)
    return `It gets worse along a text (${rounded(growth.early)} nats per token at the beginning, ${rounded(growth.late)} at the end, compared with ${other}): its rotary base, scaling or window differs.`;
  // Logits may be no numbers, and then the ratio is not one either.
  const isSmall = lossRatio <= DAMAGED_LOSS && sameChoice >= NEAR;
  if (isSmall) return null;
  const choices = `chooses another next token than ${other} in ${percent(1 - sameChoice)} of places, and `;
  const bits = Number.isFinite(lossRatio)
    ? `needs ${rounded(lossRatio)} times the bits of ${other} for the same text`
    : 'gives probabilities that are no numbers';
  return `It ${choices}${bits}: ${likelyCause(candidate, reference)}${tensorWords(tensors)}.`;
}

/** More names say no more. */
const NAMED_TENSORS = 3;

function tensorWords(tensors: OtherTensors | null): string {
  if (tensors === null || tensors.other.length === 0) return '';
  const { compared, other } = tensors;
  const more = other.length > NAMED_TENSORS ? ', …' : '';
  return `; ${other.length} of ${compared} tensors in the same form have other values (${other.slice(0, NAMED_TENSORS).join(', ')}${more})`;
}

/** The size of a file shows the bits of a weight, but not whether they are the right ones. */
function likelyCause({ bitsPerWeight: own }: Measurement, { bitsPerWeight: other }: Measurement): string {
  if (own === null) return 'too coarse a quant, or damaged weights';
  const isCoarse = own < COARSE_BITS && (other === null || own < COARSER * other);
  return isCoarse ? `too coarse a quant (${own.toFixed(1)} bits per weight)` : 'damaged weights';
}

function recallFinding({ needle: own }: Measurement, { needle: other, model }: Measurement): string | null {
  if (own === null || other === null || own.missed.length - other.missed.length < LOST_FACTS) return null;
  const recalled = (needle: typeof own): number => needle.facts - needle.missed.length;
  return `It recalls ${recalled(own)} of ${own.facts} facts in a text of ${own.tokens} tokens, and ${model} ${recalled(other)}: its window, its rotary base or the types of its KV cache differ.`;
}

/** By how much more a token surprises it than the reference, at both ends of texts; null: equally. */
function growthOf(
  candidate: Measurement,
  reference: Measurement,
): { readonly early: number; readonly late: number } | null {
  const excess = (part: (tokens: readonly TokenScore[]) => readonly TokenScore[]): number => {
    const mean = (texts: readonly ScoredText[]): number => {
      const tokens = texts.flatMap((text) => part(text.tokens));
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
  const { needle } = candidate;
  const parts = [
    distance === null
      ? `Needs ${rounded(bitsPerByte(candidate.texts))} bits per byte of text`
      : likenessOf(distance),
    all === 0 ? 'calls and JSON not tried' : `calls and JSON ${passed} of ${all - left}`,
    ...(needle === null
      ? []
      : [
          `recalls ${needle.facts - needle.missed.length} of ${needle.facts} facts in ${needle.tokens} tokens`,
        ]),
    ...(distance === null
      ? []
      : [
          `${rounded(distance.writtenRatio)} times as fast`,
          `${rounded(distance.memoryRatio)} times the memory`,
        ]),
  ];
  return `${parts.join('; ')}.`;
}

function likenessOf({ reference, sameChoice, tokens, lossRatio }: Distance): string {
  const share = percent(sameChoice);
  if (tokens === 0) return `Needs ${rounded(lossRatio)} times the bits of ${reference}`;
  if (sameChoice >= LIKE) return `Answers like ${reference} in ${share} of tokens`;
  if (sameChoice >= NEAR) return `Close to ${reference}: the same choice in ${share} of tokens`;
  return `Differs from ${reference}: the same choice in only ${share} of tokens`;
}
