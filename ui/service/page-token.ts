/** Changes: asked for with the token that only this page gets from its own service. */
import type { Static } from '#typebox';
import type { PageToken } from '../../src/wire/operation/library.ts';
import { REQUEST_HEADERS } from '../../src/wire/headers.ts';
import { type Ask, ask, askJson, Refusal, type ServicePath } from './client.ts';

let token: string | null = null;

/** Asks with the token; one of an earlier boot of the service is renewed once. */
export async function askAsPage(path: ServicePath, options: Ask = {}): Promise<Response> {
  const isFresh = token === null;
  token ??= await fetchToken();
  try {
    return await ask(path, withToken(options, token));
  } catch (error) {
    if (isFresh || !(error instanceof Refusal) || error.code !== 'page_token_required') throw error;
    token = await fetchToken();
    return ask(path, withToken(options, token));
  }
}

const withToken = (options: Ask, shown: string): Ask => ({
  ...options,
  headers: { ...options.headers, [REQUEST_HEADERS.pageToken]: shown },
});

async function fetchToken(): Promise<string> {
  return (await askJson<Static<typeof PageToken>>('/svc/page-token', { method: 'POST' })).token;
}
