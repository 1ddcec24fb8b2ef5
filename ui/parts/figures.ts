import { durationText } from '../../src/lib/base/duration.ts';

const counts = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

export const count = (value: number): string => counts.format(value);

export function milliseconds(ms: number): string {
  return ms < 1 ? '< 1 ms' : durationText(ms);
}

/** Decimal, as files are sold: 2.1 GB. */
export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let at = 0;
  let rest = value;
  while (rest >= 1000 && at < units.length - 1) {
    rest /= 1000;
    at += 1;
  }
  return `${at === 0 || rest >= 100 ? Math.round(rest) : rest.toFixed(1)} ${units[at] ?? ''}`;
}

export function ofBytes(part: number, whole: number): string {
  const [value, unit] = bytes(part).split(' ');
  const all = bytes(whole);
  return all.endsWith(` ${unit}`) ? `${value} of ${all}` : `${value} ${unit} of ${all}`;
}

export const rate = (perSecond: number): string =>
  perSecond >= 100 ? String(Math.round(perSecond)) : perSecond.toFixed(1);

export const percent = (share: number): string => `${Math.round(100 * share)}%`;

export function ago(thenMs: number, nowMs: number): string {
  const minutes = Math.round((nowMs - thenMs) / 60_000);
  if (minutes < 1) return 'now';
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.round(minutes / 60);
  return hours < 36
    ? `${hours} h ago`
    : new Date(thenMs).toLocaleDateString('en', { day: 'numeric', month: 'short' });
}

export const clock = (ms: number): string => new Date(ms).toLocaleTimeString('en', { hourCycle: 'h23' });

export const moment = (ms: number): string =>
  new Date(ms).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' });

export const plural = (value: number, one: string): string =>
  `${count(value)} ${one}${value === 1 ? '' : 's'}`;

/** Lower case, except words that are spelled in capitals. */
export const inSentence = (words: string): string =>
  /^[A-Z][a-z]/.test(words) ? words.charAt(0).toLowerCase() + words.slice(1) : words;
