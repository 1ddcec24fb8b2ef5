/**
 * Seeded random numbers that are the same on every machine: integer arithmetic only,
 * no Math.log or Math.cos, whose last bits may differ between engines.
 */

export interface Random {
  /** An unsigned 32-bit integer. */
  readonly next: () => number;
  /** An integer from 0 up to, not including, `bound`. */
  readonly below: (bound: number) => number;
  /** Close to a standard normal variate: the sum of four uniform ones. */
  readonly normal: () => number;
}

/** The sfc32 generator, warmed up so that neighbouring seeds do not resemble each other. */
export function seededRandom(seed: number): Random {
  // Kept as signed integers, which engines add much faster than unsigned ones.
  let a = 0x9e3779b9 ^ seed;
  let b = 0x243f6a88 | 0;
  let c = 0xb7e15162 | 0;
  let counter = 1;
  const next = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  for (let round = 0; round < 16; round += 1) next();
  const uniform = (): number => next() / 0x1_0000_0000;
  return {
    next,
    below: (bound) => Math.floor(uniform() * bound),
    // Four uniforms have variance 1/3, so the factor is the square root of three.
    normal: () => (uniform() + uniform() + uniform() + uniform() - 2) * 1.7320508075688772,
  };
}
