/** Schemas and grammars of clients that cannot be enforced, as failures of the catalogue. */
import { GrammarError } from '../../../packages/schema-grammar/src/grammar-error.ts';
import { fail } from './svc-error.ts';

/** The failure of a request with such a schema; any other error is returned unchanged. */
export function asFailure(error: unknown): unknown {
  if (!(error instanceof GrammarError)) return error;
  const { path, message } = error;
  return fail('invalid_request', { ...(path !== null && { param: path }), message }, error);
}

/** Runs code that may refuse a schema or a grammar. */
export function orFailure<T>(compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    throw asFailure(error);
  }
}
