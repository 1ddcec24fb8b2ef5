/** One evaluation: in which order two models are measured, so that what is wrong is said as soon as it shows. */
import type { Differences, OtherTensors } from '../../../store/registry/differences.ts';
import type { Needle } from '../../../trust/evidence/eval-statement.ts';
import type { Known } from './causes.ts';
import { type Candidate, findingsOf, isProvedBy, needsTensors } from './findings.ts';
import {
  LEFT_OUT,
  type Measurement,
  NEEDLE_WITHIN_MS,
  needleTokens,
  type Predictions,
  type Reference,
} from './measure.ts';
import type { Evaluated } from './report.ts';

/** The model, in a worker. */
export interface CandidateSide {
  measure(onPredicted: (predictions: Predictions) => Promise<void>): Promise<Measurement>;
  recall(tokens: number): Promise<Needle | null>;
}

export interface ReferenceSide {
  measure(): Promise<Reference>;
  /** Null: a model of an upstream, which scores the short texts only. */
  readonly recall: ((tokens: number) => Promise<Needle | null>) | null;
  /** Null: its file is not here. */
  readonly compare: {
    differences(): Promise<Differences>;
    otherTensors(): Promise<OtherTensors>;
  } | null;
}

export interface EvalRun {
  readonly candidate: CandidateSide;
  readonly reference: ReferenceSide | null;
  /** True: no long text is read. */
  readonly textsOnly?: boolean;
  /** Each thing that is wrong, once it is known. */
  readonly onFinding: (finding: string) => void;
}

/** The reference first: then each thing that is wrong is known with the texts of the model. */
export async function runEval({
  candidate: side,
  reference: other,
  textsOnly = false,
  onFinding,
}: EvalRun): Promise<Evaluated> {
  const reference = (await other?.measure()) ?? null;
  const found: { known: Known | null; isProved: boolean } = { known: null, isProved: false };
  const measured = await side.measure(async (predictions) => {
    if (reference === null || other === null) return;
    const predicted = { ...predictions, needle: null };
    found.known = await readDifferences(other, { candidate: predicted, reference, known: null });
    found.isProved = isProvedBy(predicted, reference, found.known);
    for (const finding of findingsOf(predicted, reference, found.known)) onFinding(finding);
  });
  const { known } = found;
  // A long text takes a minute, and what is wrong is known.
  if (found.isProved) return { candidate: withoutFacts(measured, PROVED), reference, known };
  if (textsOnly) return { candidate: withoutFacts(measured, LEFT_OUT), reference, known };
  const readPerS = Math.min(measured.readPerS, reference?.readPerS ?? Number.POSITIVE_INFINITY);
  const needle = await side.recall(needleTokens({ readPerS }));
  if (needle === null) return { candidate: withoutFacts(measured, TOO_SLOW), reference, known };
  const candidate = { ...measured, needle };
  if (reference === null || other === null || other.recall === null) return { candidate, reference, known };
  const recalled = { ...reference, needle: await other.recall(needle.tokens) };
  return {
    candidate,
    reference: recalled,
    known: await readDifferences(other, { candidate, reference: recalled, known }),
  };
}

const PROVED = 'the short texts already show what is wrong';
const TOO_SLOW = `the model did not read the text within ${NEEDLE_WITHIN_MS / 1000} seconds`;

const withoutFacts = (measured: Measurement, why: string): Measurement => ({
  ...measured,
  notTried: [...measured.notTried, { what: 'facts in a long text', count: null, why }],
});

interface Compared {
  readonly candidate: Candidate;
  readonly reference: Reference;
  /** The differences found so far. */
  readonly known: Known | null;
}

/** All tensors are read only where that explains something. */
async function readDifferences(
  { compare }: ReferenceSide,
  { candidate, reference, known }: Compared,
): Promise<Known | null> {
  if (compare === null) return null;
  const headers = known ?? { ...(await compare.differences()), other: null };
  if (headers.other !== null || !needsTensors(candidate, reference, headers)) return headers;
  return { ...headers, other: await compare.otherTensors() };
}
