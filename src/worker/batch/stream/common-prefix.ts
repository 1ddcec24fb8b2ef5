export function commonPrefix(a: ArrayLike<number>, b: ArrayLike<number>, fromA = 0, fromB = 0): number {
  const limit = Math.min(a.length - fromA, b.length - fromB);
  let length = 0;
  while (length < limit && a[fromA + length] === b[fromB + length]) length += 1;
  return length;
}
