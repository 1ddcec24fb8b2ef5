import { asError } from '../../../lib/errors/svc-error.ts';

/**
 * Runs the `async` form of a function. What `call` closes over lives until it resolves, because `done` refers to it;
 * the memory that its arguments point to must not change until then.
 */
export function onThread<T>(call: (done: (error: unknown, result: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    call((error, result) => {
      if (error) reject(asError(error));
      else resolve(result);
    });
  });
}

const lent = new Set<object>();

/**
 * Calls native code with addresses of memory. Optimised code drops its last reference to memory before the call has
 * read it, and the memory is then freed by another thread; what `call` closes over lives until it has returned.
 */
export function lending<T>(call: () => T): T {
  lent.add(call);
  try {
    return call();
  } finally {
    lent.delete(call);
  }
}
