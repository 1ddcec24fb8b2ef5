/**
 * ui/requests owns the view of the last requests. It does not know their text, unless the service recorded it. This
 * file: the requests, fetched when the engine reports new ones.
 */
import { effect, signal } from '@preact/signals';
import type { RequestList, RequestView } from '../../src/wire/operation/requests.ts';
import { askJson, PAGE_CLIENT, sentenceOf } from '../service/client.ts';
import { engineState, watchEngine } from '../service/engine-feed.ts';

const MOST = 400;

export const isInference = ({ model, dialect, prompt_tokens: prompt }: RequestView): boolean =>
  model !== undefined || dialect !== undefined || prompt !== undefined;

/** Requests of this page for display: its files, the service's state, token counts. */
export const isOwn = (request: RequestView): boolean =>
  request.error === undefined &&
  (isFile(request) || (request.client_name === PAGE_CLIENT && isStatus(request)));

const isStatus = (request: RequestView): boolean => !isInference(request) || request.route === '/v1/tokenize';

/** Fetched by the browser under its own client name. */
const isFile = ({ method, route }: RequestView): boolean =>
  method === 'GET' && (route === '/' || route === '/ui' || route.startsWith('/ui/'));

export const recent = signal<readonly RequestView[]>([]);
export const listRefusal = signal<string | null>(null);
let bootId: string | null = null;

/** Updates `recent` until the returned function is called. */
export function watchRequests(): () => void {
  const unwatch = watchEngine();
  let refusedAt = -1;
  const isFetching = signal(false);
  const stop = effect(() => {
    const state = engineState.value;
    // Read here so that this effect runs again after a fetch.
    const isBusy = isFetching.value;
    if (state === null) return;
    if (state.boot_id !== bootId) recent.value = [];
    bootId = state.boot_id;
    const known = Math.max(0, ...recent.peek().map(({ number }) => number));
    if (isBusy || state.last_request <= known || state.last_request === refusedAt) return;
    isFetching.value = true;
    void fetchAfter(known).finally(() => {
      // Not retried until there are new requests.
      refusedAt = state.last_request;
      isFetching.value = false;
    });
  });
  return () => {
    stop();
    unwatch();
  };
}

async function fetchAfter(number: number): Promise<void> {
  const { data } = await askJson<RequestList>(`/svc/requests?after=${number}`).then(
    (list) => {
      listRefusal.value = null;
      return list;
    },
    (error: unknown) => {
      listRefusal.value = sentenceOf(error);
      return { data: [] };
    },
  );
  const fresh = data.filter((request) => request.number > number);
  // The service lists them by end, the page by start.
  recent.value = [...fresh, ...recent.value].toSorted((a, b) => b.started_ms - a.started_ms).slice(0, MOST);
}
