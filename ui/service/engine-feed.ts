/** What the engine does, as the service tells it: connected while a view looks at it and the page can be seen. */
import { signal } from '@preact/signals';
import type { ENGINE_EVENTS, EngineState } from '../../src/wire/operation/engine-state.ts';
import { REQUEST_HEADERS } from '../../src/wire/headers.ts';
import { ask } from './client.ts';
import { framesOf } from './frames.ts';
import { mergePatched } from './merge-patch.ts';

export const engineState = signal<EngineState | null>(null);

const RETRY_MS = 2000;
let watchers = 0;
let connection: AbortController | null = null;
let lastId: string | null = null;

/** Follows the engine until the function that it returns is called. */
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

function settle(): void {
  const isWanted = watchers > 0 && !document.hidden;
  if (isWanted && connection === null) {
    connection = new AbortController();
    void follow(connection.signal);
  } else if (!isWanted) {
    connection?.abort();
    connection = null;
  }
}

async function follow(signalOfEnd: AbortSignal): Promise<void> {
  while (!signalOfEnd.aborted) {
    try {
      const headers = lastId === null ? {} : { [REQUEST_HEADERS.lastEventId]: lastId };
      const response = await ask('/svc/events', { headers, signal: signalOfEnd });
      for await (const { id, event, data } of framesOf(response)) {
        take(event as keyof typeof ENGINE_EVENTS, JSON.parse(data));
        lastId = id ?? lastId;
      }
    } catch {
      // What is wrong shows beside the name of the service; here it is tried again.
    }
    if (!signalOfEnd.aborted) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

function take(event: keyof typeof ENGINE_EVENTS, data: unknown): void {
  if (event === 'snapshot') engineState.value = data as EngineState;
  else if (engineState.value !== null)
    engineState.value = mergePatched(engineState.value, data) as EngineState;
}
