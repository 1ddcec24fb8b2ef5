/** Server-sent events of a response; comments only show that the service is alive. */
import { createParser, type EventSourceMessage } from 'eventsource-parser';

/**
 * Reads no further before each event is taken: a failed answer ends with an event that says why and a broken
 * connection, and a pipe of streams drops what it still holds when its source breaks.
 */
export async function* framesOf(
  response: Response,
  onComment: (comment: string) => void = () => undefined,
): AsyncGenerator<EventSourceMessage, void, void> {
  if (response.body === null) return;
  const events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => void events.push(event), onComment });
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* events.splice(0);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
