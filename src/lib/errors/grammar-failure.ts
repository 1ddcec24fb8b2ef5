import { GrammarError } from '../../../packages/schema-grammar/src/grammar-error.ts';
import { fail } from './svc-error.ts';

export function asFailure(error: unknown): unknown {
  if (!(error instanceof GrammarError)) return error;
  const { path, message } = error;
  return fail('invalid_request', { ...(path !== null && { param: path }), message }, error);
}

export function orFailure<T>(compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    throw asFailure(error);
  }
}
