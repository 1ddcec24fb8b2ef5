import { fail, type SvcError } from './svc-error.ts';

/** A request that cannot be taken as it is: the place in it, and what is wrong there, as one sentence without its full stop. */
export function refusal(path: string, what: string): SvcError {
  return fail('invalid_request', { param: path, message: `${path} ${what}.` });
}
