export function readable(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  const amount = bytes / 1024 ** power;
  return `${power === 0 ? amount : amount.toFixed(1)} ${units[power]}`;
}

const FACTORS: Readonly<Record<string, number>> = {
  '': 1,
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  K: 1024,
  M: 1024 ** 2,
  G: 1024 ** 3,
  T: 1024 ** 4,
  KIB: 1024,
  MIB: 1024 ** 2,
  GIB: 1024 ** 3,
  TIB: 1024 ** 4,
};

/** Accepts `4GiB`, `1.5 GB` or a plain number of bytes; undefined for other text. */
export function parseBytes(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,15}(?:\.\d{1,3})?)\s*([A-Za-z]{0,3})$/.exec(text.trim()) ?? [];
  const factor = FACTORS[unit.toUpperCase()];
  if (digits === undefined || factor === undefined) return undefined;
  const bytes = Math.round(Number(digits) * factor);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}
