/** Figures as a line of a terminal has them. Pure. */
export const sum = <T>(items: readonly T[], pick: (item: T) => number): number =>
  items.reduce((total, item) => total + pick(item), 0);

export const grouped = (count: number): string => count.toLocaleString('en-US');
