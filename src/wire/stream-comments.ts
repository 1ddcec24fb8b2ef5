/** Comments of a stream while its client waits. The service writes them; the terminal and the page read them. */

export const PING = 'ping';

export const queuedComment = (position: number, reason: string): string => `queued ${position}: ${reason}`;

export function waitedFor(comment: string): string | null {
  const said = comment.trim();
  if (said === PING) return null;
  const [, position = '', reason = said] = /^queued (\d+): (.*)$/.exec(said) ?? [];
  return Number(position) > 1 ? `${reason} (number ${position} in the queue)` : reason;
}
