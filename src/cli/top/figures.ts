/** Figures as a line of a terminal has them. Pure. */
export const sum = <T>(items: readonly T[], pick: (item: T) => number): number =>
  items.reduce((total, item) => total + pick(item), 0);

const MB = 1e6;
const GB = 1e9;

/** Decimal, in the unit that fits. */
export const size = (bytes: number): string =>
  bytes >= GB ? `${(bytes / GB).toFixed(1)} GB` : `${(bytes / MB).toFixed(bytes >= 10 * MB ? 0 : 1)} MB`;

export const grouped = (count: number): string => count.toLocaleString('en-US');
