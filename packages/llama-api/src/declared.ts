/** C function prototypes that carry their TypeScript types. */

export interface Declared<F> {
  readonly result: string;
  readonly parameters: readonly string[];
  readonly as?: F;
}

type AnyFunction = (...args: never[]) => unknown;

export function declare<F extends AnyFunction>(result: string, ...parameters: string[]): Declared<F> {
  return { result, parameters };
}

export type Bound<T> = {
  readonly [K in keyof T]: T[K] extends Declared<infer F extends AnyFunction> ? F & Asynchronous<F> : never;
};

interface Asynchronous<F extends AnyFunction> {
  /** Runs on one of libuv's threads. */
  async(...args: [...Parameters<F>, (error: unknown, result: ReturnType<F>) => void]): void;
}
