/** The document of a measurement, which is printed, drawn and signed. Pure. */
import type { OtherTensors } from '../../store/registry/tensors.ts';
import { EVAL_OBJECT, type EvalReport } from '../../trust/evidence/eval-statement.ts';
import { canonicalSha256 } from '../../trust/identity/canonical.ts';
import { type Distance, distanceOf, figure, figuresOf, findingsOf, verdictOf } from './compare.ts';
import type { Measurement } from './measure.ts';
import { EVAL_TEXTS, FILLER } from './texts.ts';
import { RECALL } from './needle.ts';

export function reportOf(
  candidate: Measurement,
  reference: Measurement | null,
  tensors: OtherTensors | null = null,
): EvalReport {
  const distance = reference === null ? null : distanceOf(candidate, reference);
  const others = reference?.texts ?? null;
  const requests = candidate.own.filter(({ tokens }) => tokens.length > 0).length;
  return {
    object: EVAL_OBJECT,
    model: candidate.model,
    verdict: verdictOf(candidate, distance),
    findings: reference === null ? [] : findingsOf(candidate, reference, tensors),
    whole: figuresOf('all texts', candidate.texts, others),
    texts: candidate.texts.map((text, at) =>
      figuresOf(text.name, [text], others === null ? null : others.slice(at, at + 1)),
    ),
    own:
      requests === 0
        ? null
        : { requests, ...figuresOf('recorded requests', candidate.own, reference?.own ?? null) },
    cases: candidate.cases,
    needle: candidate.needle,
    speed: { read_per_s: figure(candidate.readPerS), written_per_s: figure(candidate.writtenPerS) },
    memory_bytes: candidate.memoryBytes,
    against: distance === null ? null : againstFigures(distance),
  };
}

const againstFigures = (distance: Distance): EvalReport['against'] => ({
  reference: distance.reference,
  tokens: distance.tokens,
  same_choice: figure(distance.sameChoice),
  divergence: figure(distance.divergence),
  loss_ratio: figure(distance.lossRatio),
  read_ratio: figure(distance.readRatio),
  written_ratio: figure(distance.writtenRatio),
  memory_ratio: figure(distance.memoryRatio),
});

/** Names the set. */
export const setSha256 = (): string =>
  canonicalSha256({
    texts: EVAL_TEXTS.map(({ name, text }) => ({ name, text })),
    filler: [...FILLER],
    recall: RECALL,
  });
