/** The state of a running engine as its stream of events tells it, over lost connections too. */
import { setTimeout as pause } from 'node:timers/promises';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Config } from '../../config/config.ts';
import { mergePatched } from '../../lib/base/merge-patch.ts';
import { REQUEST_HEADERS } from '../../wire/headers.ts';
import { ENGINE_EVENTS, type EngineState } from '../../wire/operation/engine-state.ts';
import { routes } from '../../wire/routes.ts';
import { openStream } from '../api.ts';
import { CliFailure } from '../context.ts';

/** Between two tries to reach a server that was there before. */
const RETRY_MS = 1_000;

/** Null: the server is away, and is being looked for. The first connection has to succeed. */
export async function* followEngine(config: Config, signal: AbortSignal): AsyncGenerator<EngineState | null> {
  let state: EngineState | null = null;
  let lastEventId = '';
  let wasReached = false;
  while (!signal.aborted) {
    try {
      for await (const event of readEvents(config, lastEventId, signal)) {
        wasReached = true;
        lastEventId = event.id ?? '';
        const data: unknown = JSON.parse(event.data);
        state = (event.event === ENGINE_EVENTS.update ? mergePatched(state, data) : data) as EngineState;
        yield state;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!wasReached || !(error instanceof CliFailure)) throw error;
    }
    if (signal.aborted) return;
    yield null;
    await pause(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function* readEvents(
  config: Config,
  lastEventId: string,
  signal: AbortSignal,
): AsyncGenerator<EventSourceMessage> {
  const headers = lastEventId === '' ? {} : { [REQUEST_HEADERS.lastEventId]: lastEventId };
  const events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => void events.push(event) });
  const decoder = new TextDecoder();
  for await (const bytes of openStream(config, {
    method: 'GET',
    route: routes.events.path,
    headers,
    signal,
  })) {
    parser.feed(decoder.decode(bytes, { stream: true }));
    yield* events.splice(0);
  }
}
