/** Server-sent events of a response; comments only show that the service is alive. */
import { EventSourceParserStream, type EventSourceMessage } from 'eventsource-parser/stream';

export async function* framesOf(
  response: Response,
  onComment: (comment: string) => void = () => undefined,
): AsyncGenerator<EventSourceMessage, void, void> {
  if (response.body === null) return;
  const events = response.body
    .pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>)
    .pipeThrough(new EventSourceParserStream({ onComment }));
  const reader = events.getReader();
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
