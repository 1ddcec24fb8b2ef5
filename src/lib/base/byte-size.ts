/** A number of bytes as people read it: `1.5 GiB`. */
export function readable(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  const amount = bytes / 1024 ** power;
  return `${power === 0 ? amount : amount.toFixed(1)} ${units[power]}`;
}
