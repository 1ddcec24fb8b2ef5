/** Names in sentences the faults of a model, compared with its reference. Pure. */
import {
  causeWords,
  isCoarser,
  isSameWeights,
  type Known,
  mayBeBetter,
  valuesAbout,
  valueWords,
} from './causes.ts';
import { distanceOf, isSplitAlike, lossOf, percent, rounded } from './compare.ts';
import type { Predictions, Reference, ScoredText, TokenScore } from './measure.ts';
import type { Needle } from '../../../trust/evidence/eval-statement.ts';

export type Candidate = Predictions & { readonly needle: Needle | null };

/** Chosen by the seeded defects of the tests: unchanged models and good quants stay far below, damaged ones far above. */
const DAMAGED_LOSS = 1.25;
const OTHER_CHOICES = 0.15;
/** A quant of about two bits is known to be coarse: fewer other choices prove that it is too coarse for this model. */
const TWO_BITS = 3.2;
const OTHER_CHOICES_OF_TWO_BITS = 0.05;
/** A model that needs this share of the bits may be better, and choose otherwise for that; damage can save bits too. */
export const BETTER_LOSS = 0.97;
const GROWTH = 2;
const LEAST_GROWTH = 0.15;
/** Facts that a model recalls fewer than its reference. */
const LOST_FACTS = 2;
/** Of the same weights: rounding moves few tokens and the distribution hardly. */
export const ROUNDING = { sameChoice: 0.97, divergence: 0.01 } as const;

/** Whether its predictions show already that something is wrong, so that a long text need not be tried. */
export const isProvedBy = (candidate: Predictions, reference: Reference, known: Known | null): boolean =>
  vocabularyFinding(candidate, reference, known) !== null ||
  predictionFinding(candidate, reference, known) !== null;

/** Whether it depends on the bytes of the weights what is wrong, if anything is. */
export const needsTensors = (candidate: Candidate, reference: Reference, known: Known): boolean =>
  vocabularyFinding(candidate, reference, known) === null &&
  (lossFinding(candidate, reference, known) !== null ||
    recallFinding(candidate, reference, known) !== null ||
    (isUntraded(known) && drifts(candidate, reference)));

/** `known`: what their files and settings have otherwise; null: that is not known. */
export function findingsOf(candidate: Candidate, reference: Reference, known: Known | null): string[] {
  const words = vocabularyFinding(candidate, reference, known);
  // Other tokens are predicted worse whatever the weights are.
  const lost = words === null ? predictionFinding(candidate, reference, known) : null;
  const recall = words === null && lost === null ? recallFinding(candidate, reference, known) : null;
  return [words, templateFinding(candidate, reference, known), lost, recall].filter(
    (finding) => finding !== null,
  );
}

function vocabularyFinding(candidate: Predictions, reference: Reference, known: Known | null): string | null {
  const { texts } = candidate;
  const others = texts.filter((text, at) => {
    const other = reference.texts[at];
    return other !== undefined && !isSplitAlike(text, other);
  }).length;
  if (others === 0) return null;
  const { lossRatio } = distanceOf(candidate, reference);
  const bits = lossRatio <= DAMAGED_LOSS ? '' : `, and needs ${rounded(lossRatio)} times the bits`;
  const values = known === null ? '' : valueWords(valuesAbout(known, 'vocabulary'), reference.model);
  const cause = values === '' ? 'another vocabulary, or a damaged one' : `another vocabulary (${values})`;
  return `It splits ${others} of ${texts.length} texts into other tokens than ${reference.model}${bits}: ${cause}.`;
}

function templateFinding(
  { rendered }: Predictions,
  reference: Reference,
  known: Known | null,
): string | null {
  if (reference.rendered === null || rendered === reference.rendered) return null;
  const values = known === null ? '' : valueWords(valuesAbout(known, 'template'), reference.model);
  const cause = values === '' ? 'another chat template' : `another chat template (${values})`;
  return `It puts a conversation in other words than ${reference.model}: ${cause}.`;
}

const predictionFinding = (
  candidate: Predictions,
  reference: Reference,
  known: Known | null,
): string | null => lossFinding(candidate, reference, known) ?? settingFinding(candidate, reference, known);

function lossFinding(candidate: Predictions, reference: Reference, known: Known | null): string | null {
  const other = reference.model;
  const { lossRatio, sameChoice } = distanceOf(candidate, reference);
  if (lossRatio <= BETTER_LOSS && known !== null && mayBeBetter(known)) return null;
  const growth = growthOf(candidate, reference);
  if (growth !== null) {
    const cause = known === null ? 'its rotary base, scaling or window differs' : causeWords(known, other);
    return `It gets worse along a text (${rounded(growth.early)} nats per token at the beginning, ${rounded(growth.late)} at the end, compared with ${other}): ${cause}.`;
  }
  // Logits may be no numbers, and then the ratio is not one either.
  const isOfTwoBits = known !== null && isCoarser(known) && (known.retyped?.own ?? TWO_BITS) < TWO_BITS;
  const most = isOfTwoBits ? OTHER_CHOICES_OF_TWO_BITS : OTHER_CHOICES;
  const isSmall = lossRatio <= DAMAGED_LOSS && 1 - sameChoice <= most;
  if (isSmall) return null;
  const choices = `chooses another next token than ${other} in ${percent(1 - sameChoice)} of places, and `;
  const bits = Number.isFinite(lossRatio)
    ? `needs ${rounded(lossRatio)} times the bits of ${other} for the same text`
    : 'gives probabilities that are no numbers';
  const cause =
    known === null ? 'too coarse a quant, damaged weights or another setting' : causeWords(known, other);
  return `It ${choices}${bits}: ${cause}.`;
}

const isUntraded = (known: Known): boolean =>
  valuesAbout(known, 'predictions').some(({ isTraded }) => !isTraded);

function drifts(candidate: Predictions, reference: Reference): boolean {
  const { sameChoice, divergence, lossRatio } = distanceOf(candidate, reference);
  const isRounding = sameChoice >= ROUNDING.sameChoice && divergence <= ROUNDING.divergence;
  return !isRounding && !(lossRatio <= 1);
}

/** Equal weights predict worse by more than rounding: a setting of the file is wrong, even if the loss is small. */
function settingFinding(candidate: Predictions, reference: Reference, known: Known | null): string | null {
  if (known === null || !isSameWeights(known) || !isUntraded(known) || !drifts(candidate, reference))
    return null;
  const { sameChoice } = distanceOf(candidate, reference);
  const other = reference.model;
  return `With the same weights, it chooses another next token than ${other} in ${percent(1 - sameChoice)} of places: ${causeWords(known, other)}.`;
}

function recallFinding(
  { needle: own }: Candidate,
  { needle: other, model }: Reference,
  known: Known | null,
): string | null {
  if (own === null || other === null || own.missed.length - other.missed.length < LOST_FACTS) return null;
  const recalled = (needle: typeof own): number => needle.facts - needle.missed.length;
  const cause =
    known === null
      ? 'its window, its rotary base or the types of its KV cache differ'
      : causeWords(known, model);
  return `It recalls ${recalled(own)} of ${own.facts} facts in a text of ${own.tokens} tokens, and ${model} ${recalled(other)}: ${cause}.`;
}

/** By how much more a token surprises it than the reference, at both ends of texts; null: equally. */
function growthOf(
  candidate: Predictions,
  reference: Reference,
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
