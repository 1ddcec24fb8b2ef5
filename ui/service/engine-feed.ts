/** State of the engine, followed while a view shows it and the page is visible. */
import { batch, signal } from '@preact/signals';
import type { ENGINE_EVENTS, EngineState } from '../../src/wire/operation/engine-state.ts';
import { REQUEST_HEADERS } from '../../src/wire/headers.ts';
import { ask, Refusal, sentenceOf } from './client.ts';
import { framesOf } from './frames.ts';
import { mergePatched } from '../../src/lib/base/merge-patch.ts';

export const engineState = signal<EngineState | null>(null);
/** Counts full snapshots; an earlier state is no predecessor of one. */
export const snapshots = signal(0);
/** Unix milliseconds; null: connected, or never connected. */
export const lostSinceMs = signal<number | null>(null);
export const feedRefusal = signal<string | null>(null);

const RETRY_MS = 2000;
/** The service sends something every 15 seconds; a longer silence means that it has stopped. */
const SILENCE_MS = 25_000;
let watchers = 0;
let connection: AbortController | null = null;
let lastId: string | null = null;
let retryNow = (): void => undefined;

/** Follows the engine until the returned function is called. */
export function watchEngine(): () => void {
  watchers += 1;
  document.addEventListener('visibilitychange', settle);
  settle();
  return () => {
    watchers -= 1;
    if (watchers === 0) document.removeEventListener('visibilitychange', settle);
    settle();
  };
}

export const reconnect = (): void => retryNow();

function settle(): void {
  const isWanted = watchers > 0 && !document.hidden;
  if (isWanted && connection === null) {
    connection = new AbortController();
    void follow(connection.signal);
  } else if (!isWanted) {
    connection?.abort();
    connection = null;
    // A new connection gets the whole state, not the changes.
    lastId = null;
    // The next view must not show it as the present.
    if (watchers === 0) {
      engineState.value = null;
      lostSinceMs.value = null;
      feedRefusal.value = null;
    }
  }
}

async function follow(signalOfEnd: AbortSignal): Promise<void> {
  while (!signalOfEnd.aborted) {
    const failure: unknown = await listen(signalOfEnd).catch((error: unknown) => error);
    if (signalOfEnd.aborted) return;
    feedRefusal.value = failure instanceof Refusal ? sentenceOf(failure) : null;
    if (feedRefusal.value === null) lostSinceMs.value ??= Date.now();
    await pause();
  }
}

async function listen(signalOfEnd: AbortSignal): Promise<void> {
  const silence = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const restartTimer = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), SILENCE_MS);
  };
  restartTimer();
  try {
    const headers = lastId === null ? {} : { [REQUEST_HEADERS.lastEventId]: lastId };
    const signalOfBoth = AbortSignal.any([signalOfEnd, silence.signal]);
    const response = await ask('/svc/events', { headers, signal: signalOfBoth });
    for await (const { id, event, data } of framesOf(response, restartTimer)) {
      restartTimer();
      lostSinceMs.value = null;
      feedRefusal.value = null;
      take(event as keyof typeof ENGINE_EVENTS, JSON.parse(data));
      lastId = id ?? lastId;
    }
  } finally {
    clearTimeout(timer);
  }
}

const pause = (): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, RETRY_MS);
    retryNow = () => {
      clearTimeout(timer);
      resolve();
    };
  });

function take(event: keyof typeof ENGINE_EVENTS, data: unknown): void {
  if (event === 'snapshot') {
    batch(() => {
      engineState.value = data as EngineState;
      snapshots.value += 1;
    });
  } else if (engineState.value !== null) {
    engineState.value = mergePatched(engineState.value, data) as EngineState;
  }
}
