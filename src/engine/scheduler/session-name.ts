/**
 * The conversation that a job belongs to, by a short name: what the client calls it, else how it begins. It only decides
 * whether a free slot waits a moment for its next request, so two conversations that begin alike may have one name.
 */
import type { Job } from '../../contract/job.ts';
import type { Submission } from '../ports.ts';
import { shortName } from './poison-key.ts';

/** Characters of the first messages that count: enough to tell conversations apart, and quickly read. */
const SYSTEM_CHARS = 256;
const USER_CHARS = 1_024;

/** Null for what continues nothing: vectors, texts without a conversation. */
export function sessionName({ job, route, clientKey }: Submission): string | null {
  if (job.kind !== 'generate') return null;
  if (route?.session !== undefined) return `named ${shortName([clientKey, route.session])}`;
  const begin = beginningOf(job);
  return begin === null ? null : `begins ${shortName([clientKey, ...begin])}`;
}

function beginningOf({ prompt }: Extract<Job, { kind: 'generate' }>): string[] | null {
  if (prompt.kind !== 'chat') return null;
  const [first] = prompt.turns;
  const user = prompt.turns.find(({ role }) => role === 'user');
  if (first === undefined || user === undefined) return null;
  return [first.content.slice(0, SYSTEM_CHARS), user.content.slice(0, USER_CHARS)];
}
