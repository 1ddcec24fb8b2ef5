import { fail, type SvcError } from './svc-error.ts';

export function refusal(path: string, what: string): SvcError {
  return fail('invalid_request', { param: path, message: `${path} ${what}.` });
}
