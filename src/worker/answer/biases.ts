/** The biases of a job by its vocabulary: texts become tokens, and end tokens are forbidden where none may end the answer. */
import type { GenerateJob } from '../../contract/job.ts';
import { addBiases } from '../../contract/sampling.ts';
import type { Vocabulary } from '../prompt/vocabulary.ts';

export function withBiases(vocabulary: Vocabulary, job: GenerateJob): GenerateJob {
  const { biasedTexts = [], ignoresEnd = false, sampling } = job;
  if (biasedTexts.length === 0 && !ignoresEnd) return job;
  const ofTexts = biasedTexts.flatMap(([text, bias]) =>
    Array.from(vocabulary.tokenize(text, false), (token) => [token, bias] as const),
  );
  const ends = ignoresEnd ? vocabulary.endTokens : [];
  const forbidden = ends.map((token) => [token, Number.NEGATIVE_INFINITY] as const);
  return { ...job, sampling: addBiases(sampling, [...ofTexts, ...forbidden]) };
}
