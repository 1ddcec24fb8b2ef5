/** The biases of a job by its vocabulary: texts become tokens, and end tokens are forbidden where none may end the answer. */
import type { GenerateJob } from '../../contract/job.ts';
import type { Vocabulary } from '../prompt/vocabulary.ts';

export function withBiases(vocabulary: Vocabulary, job: GenerateJob): GenerateJob {
  const { biasedTexts = [], ignoresEnd = false, sampling } = job;
  if (biasedTexts.length === 0 && !ignoresEnd) return job;
  const biases = new Map(sampling.logitBias ?? []);
  for (const [text, bias] of biasedTexts)
    for (const token of vocabulary.tokenize(text, false)) biases.set(token, bias);
  if (ignoresEnd) for (const token of vocabulary.endTokens) biases.set(token, Number.NEGATIVE_INFINITY);
  return { ...job, sampling: { ...sampling, logitBias: [...biases] } };
}
