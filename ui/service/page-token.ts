/** Changes need the token that only the page of the service's user has. */
import type { Static } from 'typebox';
import type { PageToken } from '../../src/wire/operation/library.ts';
import { PAGE_TOKEN_MARK, REQUEST_HEADERS } from '../../src/wire/headers.ts';
import { readStored, store } from '../parts/stored.ts';
import { type Ask, ask, askJson, Refusal, type ServicePath } from './client.ts';

const KEPT_AS = 'hearth.page-token';

let token = takeFromAddress() ?? readStored(KEPT_AS, 'tab closed');

/** `hearth page` prints an address with the token after the #; it is removed from the address bar. */
function takeFromAddress(): string | null {
  const given = location.hash.slice(1);
  if (!given.startsWith(PAGE_TOKEN_MARK)) return null;
  const shown = given.slice(PAGE_TOKEN_MARK.length);
  store(KEPT_AS, shown, 'tab closed');
  history.replaceState(null, '', location.pathname);
  return shown;
}

/** Renews the token once if it is of an earlier boot; with a key, it is optional. */
export async function askAsPage(path: ServicePath, options: Ask = {}): Promise<Response> {
  const isFresh = token === null;
  const refusal = isFresh ? await renew() : null;
  try {
    return await ask(path, withToken(options));
  } catch (error) {
    if (!isAboutToken(error)) throw error;
    // The reason why there is no token explains more than that one is needed.
    if (isFresh) throw refusal ?? error;
    const second = await renew();
    if (second !== null) throw second;
    return ask(path, withToken(options));
  }
}

const isAboutToken = (error: unknown): boolean =>
  error instanceof Refusal && ['page_token_required', 'owner_required'].includes(error.code);

const withToken = (options: Ask): Ask =>
  token === null
    ? options
    : { ...options, headers: { ...options.headers, [REQUEST_HEADERS.pageToken]: token } };

async function renew(): Promise<Refusal | null> {
  token = null;
  try {
    token = (await askJson<Static<typeof PageToken>>('/svc/page-token', { method: 'POST' })).token;
    return null;
  } catch (error) {
    if (error instanceof Refusal && error.status === 403) return error;
    throw error;
  }
}
