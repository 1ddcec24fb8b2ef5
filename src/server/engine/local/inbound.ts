/**
 * Messages of a child are untrusted: a damaged native library may send anything. A compiled validator per type checks
 * each message, at a few hundred nanoseconds per token.
 */
import { Type } from 'typebox';
import { checksByType, deferredValidator } from '../../../lib/base/deferred-validators.ts';
import { FromWorker } from '../../../contract/ipc.ts';
import { JobEvent } from '../../../contract/job-event.ts';

/** Generous for an honest child, small enough to keep a dishonest one harmless. */
const INBOUND_LIMITS = {
  eventsPerMessage: 4_096,
  textChars: 4 * 1024 * 1024,
  vectorLength: 65_536,
};

const eventChecks = checksByType(JobEvent);
const messageChecks = checksByType(FromWorker);
// Only the scheduler sends `queued`.
eventChecks.delete('queued');
messageChecks.set(
  'events',
  deferredValidator(
    Type.Object({
      type: Type.Literal('events'),
      events: Type.Array(Type.Object({ jobId: Type.String(), event: Type.Object({ type: Type.String() }) }), {
        maxItems: INBOUND_LIMITS.eventsPerMessage,
      }),
    }),
  ),
);

export function readMessage(raw: unknown): FromWorker | null {
  if (typeof raw !== 'object' || raw === null) return null;
  const check = messageChecks.get(Reflect.get(raw, 'type'));
  if (check === undefined || !check.Check(raw)) return null;
  const message = raw as FromWorker;
  if (message.type === 'events' && !message.events.every(({ event }) => isJobEvent(event))) return null;
  return message;
}

function isJobEvent(event: JobEvent): boolean {
  if (eventChecks.get(event.type)?.Check(event) !== true) return false;
  switch (event.type) {
    case 'text':
    case 'reasoning':
    case 'tool_arguments':
      return event.text.length <= INBOUND_LIMITS.textChars;
    case 'embedding':
      return event.vector instanceof Float32Array && event.vector.length <= INBOUND_LIMITS.vectorLength;
    default:
      return true;
  }
}
