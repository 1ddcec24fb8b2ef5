/** GBNF for whole numbers within bounds, digit by digit; unlimited digits without a bound. */

export type WholeBound = bigint | null;

export function integerRange(min: WholeBound, max: WholeBound): string {
  return [...(min === null || min < 0n ? negatives(min, max) : []), ...positives(min, max)].join(' | ');
}

function negatives(min: WholeBound, max: WholeBound): string[] {
  const nearest = max !== null && max < 0n ? -max : 1n;
  return magnitudes(nearest, min === null ? null : -min).map((digits) => `"-" ${digits}`);
}

function positives(min: WholeBound, max: WholeBound): string[] {
  if (max !== null && max < 0n) return [];
  return magnitudes(min !== null && min > 0n ? min : 0n, max);
}

export function magnitudes(low: bigint, high: WholeBound): string[] {
  const least = String(low);
  if (high === null) {
    const longer = `[1-9] [0-9]{${least.length},}`;
    if (low === 0n) return ['"0"', '[1-9] [0-9]*'];
    return low === 1n ? ['[1-9] [0-9]*'] : [digitsAtLeast(least), longer];
  }
  if (low > high) return [];
  const most = String(high);
  if (least.length === most.length) return [digitsBetween(least, most)];
  const [from, to] = [least.length + 1, most.length - 1];
  const between =
    from > to ? [] : [`[1-9] [0-9]${from === to ? `{${from - 1}}` : `{${from - 1},${to - 1}}`}`];
  if (low === 0n) return ['"0"', ...magnitudes(1n, high)];
  return [digitsAtLeast(least), ...between, digitsAtMost(most, '1')];
}

function digitsAtLeast(digits: string): string {
  return digitsBetween(digits, '9'.repeat(digits.length));
}

function digitsAtMost(digits: string, first: string): string {
  return digitsBetween(first + '0'.repeat(digits.length - 1), digits);
}

/** Digits of one length from low to high, nested at each digit where a bound may stop to apply. */
export function digitsBetween(low: string, high: string): string {
  const same = commonStart(low, high);
  const head = same === '' ? '' : `"${same}"`;
  const [from, to] = [low.slice(same.length), high.slice(same.length)];
  if (from === '') return head;
  const rest = from.length - 1;
  const [least, most] = [Number(from[0]), Number(to[0])];
  const isLowFree = /^.0*$/.test(from);
  const isHighFree = /^.9*$/.test(to);
  const options = [
    ...(isLowFree ? [] : [`"${least}" ${digitsBetween(from.slice(1), '9'.repeat(rest))}`]),
    ...anyAfter(isLowFree ? least : least + 1, isHighFree ? most : most - 1, rest),
    ...(isHighFree ? [] : [`"${most}" ${digitsBetween('0'.repeat(rest), to.slice(1))}`]),
  ];
  const body = options.length === 1 ? (options[0] ?? '') : `(${options.join(' | ')})`;
  return head === '' ? body : `${head} ${body}`;
}

function anyAfter(from: number, to: number, rest: number): string[] {
  if (from > to) return [];
  const tail = rest === 0 ? '' : ` [0-9]${rest === 1 ? '' : `{${rest}}`}`;
  return [`${digitClass(from, to)}${tail}`];
}

export function digitClass(from: number, to: number): string {
  return from === to ? `"${from}"` : `[${from}-${to}]`;
}

export function commonStart(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return a.slice(0, length);
}
