/**
 * ui/requests owns the view of what was asked lately. It does not know what was said, unless the service kept it. This
 * file: the last requests, fetched when the engine says that there are more.
 */
import { effect, signal } from '@preact/signals';
import type { RequestList, RequestView } from '../../src/wire/operation/requests.ts';
import { askJson, PAGE_CLIENT, sentenceOf } from '../service/client.ts';
import { engineState, watchEngine } from '../service/engine-feed.ts';

const MOST = 400;

/** Requests that a model had to answer, and not what asks about the service. */
export const isInference = ({ model, dialect, prompt_tokens: prompt }: RequestView): boolean =>
  model !== undefined || dialect !== undefined || prompt !== undefined;

/** What this page asked for itself, to show something: its own files, the state of the service, how long a text is. */
export const isOwn = (request: RequestView): boolean =>
  request.error === undefined &&
  (isFile(request) || (request.client_name === PAGE_CLIENT && isStatus(request)));

const isStatus = (request: RequestView): boolean => !isInference(request) || request.route === '/v1/tokenize';

/** The document and what it is made of, which the browser fetches under its own name. */
const isFile = ({ method, route }: RequestView): boolean =>
  method === 'GET' && (route === '/' || route === '/ui' || route.startsWith('/ui/'));

/** The latest started first. */
export const recent = signal<readonly RequestView[]>([]);
/** Why the service does not list them; null: it does. */
export const listRefusal = signal<string | null>(null);
let bootId: string | null = null;

/** Keeps `recent` so until the function that it returns is called. */
export function watchRequests(): () => void {
  const unwatch = watchEngine();
  let refusedAt = -1;
  const isFetching = signal(false);
  const stop = effect(() => {
    const state = engineState.value;
    // Read also while something is fetched, so that this runs again when that is over.
    const isBusy = isFetching.value;
    if (state === null) return;
    if (state.boot_id !== bootId) recent.value = [];
    bootId = state.boot_id;
    const known = Math.max(0, ...recent.peek().map(({ number }) => number));
    if (isBusy || state.last_request <= known || state.last_request === refusedAt) return;
    isFetching.value = true;
    void fetchAfter(known).finally(() => {
      // What is not listed then, is not asked for again until there is more.
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
  // The service lists them by their ends; the page shows when they started.
  recent.value = [...fresh, ...recent.value].toSorted((a, b) => b.started_ms - a.started_ms).slice(0, MOST);
}
