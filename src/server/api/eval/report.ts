/** The document of a measurement, which is printed, drawn and signed. Pure. */
import { EVAL_OBJECT, type EvalReport } from '../../../trust/evidence/eval-statement.ts';
import { canonicalSha256 } from '../../../trust/identity/canonical.ts';
import { differenceWords, type Known } from './causes.ts';
import { compareCosts, distanceOf, figure, figuresOf, verdictOf } from './compare.ts';
import { findingsOf } from './findings.ts';
import type { Measurement, Reference } from './measure.ts';
import { EVAL_TEXTS, FILLER } from './texts.ts';
import { RECALL } from './needle.ts';

export interface Evaluated {
  readonly candidate: Measurement;
  readonly reference: Reference | null;
  /** Null: not known. */
  readonly known: Known | null;
}

export function reportOf({ candidate, reference, known }: Evaluated): EvalReport {
  const others = reference?.texts ?? null;
  const requests = candidate.own.filter(({ tokens }) => tokens.length > 0).length;
  return {
    object: EVAL_OBJECT,
    model: candidate.model,
    verdict: verdictOf(candidate, reference),
    findings: reference === null ? [] : findingsOf(candidate, reference, known),
    whole: figuresOf('all texts', candidate.texts, others),
    texts: candidate.texts.map((text, at) =>
      figuresOf(text.name, [text], others === null ? null : others.slice(at, at + 1)),
    ),
    own:
      requests === 0
        ? null
        : { requests, ...figuresOf('recorded requests', candidate.own, ownReference(reference)) },
    cases: candidate.cases,
    needle: candidate.needle,
    not_tried: [...candidate.notTried],
    speed: { read_per_s: figure(candidate.readPerS), written_per_s: figure(candidate.writtenPerS) },
    memory_bytes: candidate.memoryBytes,
    against: reference === null ? null : againstFigures(candidate, reference, known),
  };
}

/** Recorded requests are not sent to an upstream, so such a reference has none. */
const ownReference = (reference: Reference | null): Reference['own'] | null =>
  reference === null || reference.own.length === 0 ? null : reference.own;

/** More are not listed. */
const MOST_DIFFERENCES = 12;

function againstFigures(
  candidate: Measurement,
  reference: Reference,
  known: Known | null,
): EvalReport['against'] {
  const distance = distanceOf(candidate, reference);
  const costs = compareCosts(candidate, reference);
  return {
    reference: reference.model,
    tokens: distance.tokens,
    same_choice: figure(distance.sameChoice),
    divergence: figure(distance.divergence),
    loss_ratio: figure(distance.lossRatio),
    read_ratio: figure(costs.readRatio),
    written_ratio: figure(costs.writtenRatio),
    memory_ratio: figure(costs.memoryRatio),
    differences: (known?.values ?? [])
      .slice(0, MOST_DIFFERENCES)
      .map((each) => differenceWords(each, reference.model)),
  };
}

/** Names the set. */
export const setSha256 = (): string =>
  canonicalSha256({
    texts: EVAL_TEXTS.map(({ name, text }) => ({ name, text })),
    filler: [...FILLER],
    recall: RECALL,
  });
