/** Formats: `90` (seconds), `10m`, `1h30m`, `250ms`; negative means forever. */
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const PART_PATTERN = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;

/** Milliseconds; Infinity for a negative duration; undefined for other text. */
export function parseDuration(value: string | number): number | undefined {
  if (typeof value === 'number') return fromSeconds(value);
  const text = value.trim().toLowerCase();
  if (/^[+-]?\d+(?:\.\d+)?$/.test(text)) return fromSeconds(Number(text));
  if (/^-(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(text)) return Infinity;
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(text)) return undefined;
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(PART_PATTERN))
    sum += Number(amount) * (UNIT_MS[unit ?? ''] ?? 0);
  return sum;
}

function fromSeconds(seconds: number): number | undefined {
  if (Number.isNaN(seconds)) return undefined;
  return seconds < 0 ? Infinity : seconds * 1000;
}

/** Notation of parseDuration, largest unit first: `1h30m`; Infinity is `forever`. */
export function formatDuration(spanMs: number): string {
  if (spanMs === Infinity) return 'forever';
  let leftMs = spanMs;
  let text = '';
  for (const [unit, lengthMs] of Object.entries(UNIT_MS).reverse()) {
    const amount = unit === 'ms' ? leftMs : Math.floor(leftMs / lengthMs);
    leftMs -= amount * lengthMs;
    if (amount > 0) text += `${amount}${unit}`;
  }
  return text === '' ? '0s' : text;
}

export function durationText(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
