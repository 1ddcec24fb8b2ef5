/** The failure of an answer that is not what its job asked for. */
import type { GenerateJob } from '../../contract/job.ts';
import { fail, type SvcError } from '../../lib/errors/svc-error.ts';
import { isRepeatable } from '../generation/choices.ts';

export function answerInvalid(
  job: GenerateJob,
  invalid: { readonly what: string; readonly reason: string },
): SvcError {
  return fail('answer_invalid', { ...invalid, repeats: isRepeatable(job) });
}
