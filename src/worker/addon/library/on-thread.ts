/** Functions of the library that run on a thread of libuv. */

/** Calls the `async` form of one: resolves to what it returns. What its arguments point to must not change meanwhile. */
export function onThread<T>(call: (done: (error: unknown, result: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    call((error, result) => {
      if (error) reject(error instanceof Error ? error : new Error(String(error)));
      else resolve(result);
    });
  });
}
