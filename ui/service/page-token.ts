/** Changes: asked for with the token that only the page of the user who runs the service has. */
import type { Static } from 'typebox';
import type { PageToken } from '../../src/wire/operation/library.ts';
import { PAGE_TOKEN_MARK, REQUEST_HEADERS } from '../../src/wire/headers.ts';
import { readStored, store } from '../parts/stored.ts';
import { type Ask, ask, askJson, Refusal, type ServicePath } from './client.ts';

const KEPT_AS = 'hearth.page-token';

let token = takeFromAddress() ?? readStored(KEPT_AS, 'tab closed');

/** The address that `hearth page` prints has the token after the mark; it does not stay there. */
function takeFromAddress(): string | null {
  const given = location.hash.slice(1);
  if (!given.startsWith(PAGE_TOKEN_MARK)) return null;
  const shown = given.slice(PAGE_TOKEN_MARK.length);
  store(KEPT_AS, shown, 'tab closed');
  history.replaceState(null, '', location.pathname);
  return shown;
}

/** Asks with the token, which is renewed once where it is of an earlier boot of the service; with a key it may do without. */
export async function askAsPage(path: ServicePath, options: Ask = {}): Promise<Response> {
  const isFresh = token === null;
  const refusal = isFresh ? await renew() : null;
  try {
    return await ask(path, withToken(options));
  } catch (error) {
    if (!isAboutToken(error)) throw error;
    // The reason for its absence says more than that one is needed.
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

/** Why the service gives none, or null. */
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
