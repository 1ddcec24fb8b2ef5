export function inTime(atMs: number, nowMs: number): string {
  return Math.round((atMs - nowMs) / 1000) <= 0 ? 'now' : `in ${spanText(atMs - nowMs)}`;
}

export function agoTime(atMs: number, nowMs: number): string {
  return `${spanText(nowMs - atMs)} ago`;
}

export function spanText(spanMs: number): string {
  const seconds = Math.max(0, Math.round(spanMs / 1000));
  if (seconds < 90) return `${seconds} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 36 * 3600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}
