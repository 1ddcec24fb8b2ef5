/** Comments of a stream while its client waits: written by the service, read by the terminal and the page. */

export const PING = 'ping';

export const queuedComment = (position: number, reason: string): string => `queued ${position}: ${reason}`;

/** Text of a comment for people; null: nothing to show. */
export function waitedFor(comment: string): string | null {
  const said = comment.trim();
  if (said === PING) return null;
  const [, position = '', reason = said] = /^queued (\d+): (.*)$/.exec(said) ?? [];
  return Number(position) > 1 ? `${reason} (number ${position} in the queue)` : reason;
}
