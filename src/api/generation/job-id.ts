/** Names one job. A client may send one request id with many requests at once, so the id alone would not do. */
import { randomUUID } from 'node:crypto';
import type { RequestFacts } from '../service.ts';

export function newJobId({ requestId }: RequestFacts): string {
  return `${requestId}.${randomUUID()}`;
}
