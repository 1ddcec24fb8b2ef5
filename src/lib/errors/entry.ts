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

/** Each value is the member's `typeof`; a question mark makes it optional. */
type Members = Readonly<Record<string, Primitive | `${Primitive}?`>>;

type OptionalNames<M> = { [K in keyof M]: M[K] extends `${string}?` ? K : never }[keyof M];
type ValueOf<T> = T extends Primitive
  ? Primitives[T]
  : T extends `${infer P extends Primitive}?`
    ? Primitives[P]
    : never;
type Flat<T> = { [K in keyof T]: T[K] };

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
  readonly retryable: boolean;
  readonly repeats?: ((detail: DetailFrom<M>) => boolean) | undefined;
  readonly members: M;
  readonly sentence: (detail: DetailFrom<M>) => string;
}

export function permanent<const M extends Members>(
  family: Family,
  members: M,
  sentence: (detail: DetailFrom<M>) => string,
): Entry<M> {
  return { family, retryable: false, members, sentence };
}

export function transient<const M extends Members>(
  family: Family,
  members: M,
  sentence: (detail: DetailFrom<M>) => string,
  repeats?: (detail: DetailFrom<M>) => boolean,
): Entry<M> {
  return { family, retryable: true, repeats, members, sentence };
}

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

export const withoutStop = (reason: string): string => reason.trimEnd().replace(/\.$/, '');
