/**
 * Reads a stream of named events as strictly as both providers write it: each event has its name and its data, the name
 * is the type, the data fits its schema, and nothing but comments stands between them.
 */
import { checkEvent } from './schema-check.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into events whose schema is checked already
export type NamedEvent = { readonly type: string } & Record<string, any>;

/** The events of a complete stream, in order; an `error` event may only stand last. */
export function namedEvents(path: string, text: string): NamedEvent[] {
  if (!text.endsWith('\n\n')) throw new Error('the last event is not complete');
  const blocks = text
    .slice(0, -2)
    .split('\n\n')
    .filter((block) => !block.startsWith(': '));
  return blocks.map((block, at) => {
    const [, name, data = ''] = /^event: (\S+)\ndata: (.+)$/.exec(block) ?? [];
    if (name === undefined) throw new Error(`not a named event: ${JSON.stringify(block)}`);
    const event = JSON.parse(data) as NamedEvent;
    if (event.type !== name) throw new Error(`the event ${name} is of type ${event.type}`);
    if (name !== 'error') checkEvent(path, event);
    else if (at < blocks.length - 1) throw new Error('an event follows the error');
    return event;
  });
}
