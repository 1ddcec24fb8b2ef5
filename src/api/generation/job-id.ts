/** Names one job. A client may send one request id with many requests at once, so the id alone would not do. */
import { randomUUID } from 'node:crypto';
import type { Caller } from '../caller.ts';

export function newJobId({ requestId }: Caller): string {
  return `${requestId}.${randomUUID()}`;
}
