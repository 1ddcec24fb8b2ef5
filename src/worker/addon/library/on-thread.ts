import { asError } from '../../../lib/errors/svc-error.ts';

/** Runs the `async` form of a function. The memory that its arguments point to must not change until it resolves. */
export function onThread<T>(call: (done: (error: unknown, result: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    call((error, result) => {
      if (error) reject(asError(error));
      else resolve(result);
    });
  });
}
