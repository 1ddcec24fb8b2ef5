/**
 * ui/service owns the connection to the service that served the page: requests, the key, streams, and facts of its
 * models. It knows nothing of how anything is shown. This file: one request, and its error in the service's words.
 */
import { signal } from '@preact/signals';
import { HEADERS, REQUEST_HEADERS } from '../../src/wire/headers.ts';
import type { ErrorBody } from '../../src/wire/error.ts';
import type { routes } from '../../src/wire/routes.ts';
import { storedKey } from './key.ts';
import { inPageWords } from './page-words.ts';

type Table = typeof routes;
type PathOf<Name extends keyof Table> = Table[Name]['path'];
type Fixed<Path extends string> = Path extends `${infer Before}/*` ? `${Before}/${string}` : Path;
/** A path outside the route table does not compile. */
type Path = Fixed<PathOf<keyof Table>>;
export type ServicePath = Path | `${Path}?${string}`;

export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly param: string | undefined;
  readonly requestId: string | null;

  constructor(status: number, body: Partial<ErrorBody>, requestId: string | null) {
    const { code = 'unknown', message = `The service answered with status ${status} and gave no reason.` } =
      body;
    super(inPageWords(code, message));
    this.status = status;
    this.code = code;
    this.param = body.param;
    this.requestId = requestId;
  }
}

/** Name of this page in queues, logs and the list of requests. */
export const PAGE_CLIENT = 'Hearth page';

export const needsKey = signal(false);
/** The service answers only with a key, and the page has none that works. */
export const isLocked = signal(false);
export const isKeyRefused = signal(false);
export const isReachable = signal(true);
export const bootId = signal<string | null>(null);

export interface Ask {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** A string is sent unchanged, so that a record can be compared byte for byte. */
  readonly body?: object | string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Throws a Refusal; an abort passes unchanged. */
export async function ask(path: ServicePath, options: Ask = {}): Promise<Response> {
  const sent = storedKey();
  const { body, method = body === undefined ? 'GET' : 'POST', signal: abort } = options;
  const init: RequestInit = {
    method,
    headers: {
      ...(sent === null ? {} : { Authorization: `Bearer ${sent}` }),
      [REQUEST_HEADERS.clientId]: PAGE_CLIENT,
      ...(body === undefined ? {} : JSON_TYPE),
      ...options.headers,
    },
    cache: 'no-store',
    credentials: 'omit',
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(abort === undefined ? {} : { signal: abort }),
  };
  const response = await reach(path, init);
  // A key that was entered meanwhile has not been tried.
  const isOfKey = sent === storedKey();
  if (response.ok) {
    // Health and identity need no key.
    if (isOfKey && path.startsWith('/v1/') && path !== '/v1/identity') unlock();
    return response;
  }
  if (isOfKey && response.status === 401) lock();
  const failure = (await response.json().catch(() => ({}))) as Partial<ErrorBody>;
  throw new Refusal(response.status, failure, response.headers.get(HEADERS.requestId));
}

export async function askJson<Body>(path: ServicePath, options: Ask = {}): Promise<Body> {
  return (await (await ask(path, options)).json()) as Body;
}

/** Fetches, and shows only the answer of the newest fetch: an older one may arrive last. */
export function latest<Value>(fetch: () => Promise<Value>, show: (value: Value) => void) {
  let number = 0;
  return async (): Promise<void> => {
    number += 1;
    const own = number;
    const value = await fetch();
    if (own === number) show(value);
  };
}

export function sentenceOf(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure);
}

export const isAbort = (failure: unknown): boolean =>
  failure instanceof DOMException && failure.name === 'AbortError';

/** The connection broke during an answer: shows that at once, and starts looking for the service. */
export function connectionLost(cause: unknown, hasArrived: boolean): Error {
  isReachable.value = false;
  const kept = hasArrived ? '; what had arrived is kept' : ' before anything arrived';
  return new Error(
    `The connection to the service was lost${kept}. Try again when the service answers again.`,
    { cause },
  );
}

function lock(): void {
  isLocked.value = true;
  isKeyRefused.value = storedKey() !== null;
  needsKey.value = true;
}

function unlock(): void {
  if (!isLocked.peek()) return;
  isLocked.value = false;
  isKeyRefused.value = false;
  needsKey.value = false;
}

export const UNREACHABLE =
  'The service cannot be reached. If it was stopped, start it with "hearth serve"; this page then connects again.';

const JSON_TYPE = { 'Content-Type': 'application/json' };

async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(path, init);
    isReachable.value = true;
    bootId.value = response.headers.get(HEADERS.bootId) ?? bootId.value;
    return response;
  } catch (cause) {
    if (isAbort(cause)) throw cause;
    isReachable.value = false;
    throw new Error(UNREACHABLE, { cause });
  }
}
