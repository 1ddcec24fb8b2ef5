/**
 * ui/requests owns the view of the last requests. It does not know their text, unless the service recorded it. This
 * file: the requests, fetched when the engine reports new ones.
 */
import { computed, effect, signal } from '@preact/signals';
import type { RequestList, RequestView } from '../../src/wire/operation/requests.ts';
import { askJson, bootId, PAGE_CLIENT, sentenceOf } from '../service/client.ts';
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

/** Numbers begin again with each boot of the service. */
const known = signal<{ readonly boot: string | null; readonly list: readonly RequestView[] }>({
  boot: null,
  list: [],
});
export const recent = computed(() => (known.value.boot === bootId.value ? known.value.list : []));
export const listRefusal = signal<string | null>(null);

/** Updates `recent` until the returned function is called. */
export function watchRequests(): () => void {
  const unwatch = watchEngine();
  let refusedAt = '';
  const isFetching = signal(false);
  const stop = effect(() => {
    const state = engineState.value;
    // Read here so that this effect runs again after a fetch.
    const isBusy = isFetching.value;
    if (state === null) return;
    const boot = state.boot_id;
    if (boot !== known.peek().boot) known.value = { boot, list: [] };
    const last = Math.max(0, ...known.peek().list.map(({ number }) => number));
    const asked = `${boot} ${state.last_request}`;
    if (isBusy || state.last_request <= last || asked === refusedAt) return;
    isFetching.value = true;
    void fetchAfter(boot, last).finally(() => {
      // Not retried until there are new requests.
      refusedAt = asked;
      isFetching.value = false;
    });
  });
  return () => {
    stop();
    unwatch();
  };
}

async function fetchAfter(boot: string, number: number): Promise<void> {
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
  if (known.peek().boot !== boot) return;
  const fresh = data.filter((request) => request.number > number);
  // The service lists them by end, the page by start.
  const all = [...fresh, ...known.peek().list].toSorted((a, b) => b.started_ms - a.started_ms);
  known.value = { boot, list: all.slice(0, MOST) };
}
