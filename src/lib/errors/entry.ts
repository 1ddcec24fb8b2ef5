/** One line of the catalogue: what a code is about, the members of its detail, and the sentence made of them. */

/** Subject of a code; the HTTP side maps it to a status, the CLI to an exit code. */
export type Family =
  | 'request'
  | 'not_found'
  | 'method'
  | 'conflict'
  | 'too_large'
  | 'media_type'
  | 'http_version'
  | 'headers'
  | 'expectation'
  | 'timeout'
  | 'auth'
  | 'forbidden'
  | 'busy'
  | 'unavailable'
  | 'engine'
  | 'store'
  | 'cancelled'
  | 'bug';

interface Primitives {
  readonly string: string;
  readonly number: number;
  readonly boolean: boolean;
}
type Primitive = keyof Primitives;

/** The members of a detail by name, each with its `typeof`; a question mark makes it optional. */
type Members = Readonly<Record<string, Primitive | `${Primitive}?`>>;

type OptionalNames<M> = { [K in keyof M]: M[K] extends `${string}?` ? K : never }[keyof M];
type ValueOf<T> = T extends Primitive
  ? Primitives[T]
  : T extends `${infer P extends Primitive}?`
    ? Primitives[P]
    : never;
type Flat<T> = { [K in keyof T]: T[K] };

/** The detail of a code without members. */
type NoDetail = Readonly<Record<string, never>>;

/** `{ model: 'string', retryAfterS: 'number?' }` → `{ readonly model: string; readonly retryAfterS?: number }`. */
export type DetailFrom<M extends Members> = [keyof M] extends [never]
  ? NoDetail
  : Flat<
      { readonly [K in Exclude<keyof M, OptionalNames<M>>]: ValueOf<M[K]> } & {
        readonly [K in OptionalNames<M>]?: ValueOf<M[K]>;
      }
    >;

interface Entry<M extends Members = Members> {
  readonly family: Family;
  /** False: the same request would fail again, so clients are told not to retry. */
  readonly retryable: boolean;
  /** For a failure that a repeat may avoid: the details with which it can. */
  readonly repeats?: ((detail: DetailFrom<M>) => boolean) | undefined;
  readonly members: M;
  readonly sentence: (detail: DetailFrom<M>) => string;
}

/** A failure that a repeat of the same request would also meet. */
export function permanent<const M extends Members>(
  family: Family,
  members: M,
  sentence: (detail: DetailFrom<M>) => string,
): Entry<M> {
  return { family, retryable: false, members, sentence };
}

/** A failure that a repeat of the same request may avoid; `repeats` limits that to some details. */
export function transient<const M extends Members>(
  family: Family,
  members: M,
  sentence: (detail: DetailFrom<M>) => string,
  repeats?: (detail: DetailFrom<M>) => boolean,
): Entry<M> {
  return { family, retryable: true, repeats, members, sentence };
}

/** The members of a detail that came from outside, or null where one is missing or of another type. */
export function pickDetail(
  members: Members,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> | null {
  const picked: Record<string, unknown> = {};
  for (const [name, kind] of Object.entries(members)) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined && kind.endsWith('?')) continue;
    if (typeof value !== kind.replace('?', '')) return null;
    picked[name] = value;
  }
  return picked;
}

/** Removes the full stop of a foreign sentence that is quoted in the middle of one of ours. */
export const withoutStop = (reason: string): string => reason.trimEnd().replace(/\.$/, '');
