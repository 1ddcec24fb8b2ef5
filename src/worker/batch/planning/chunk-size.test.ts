import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChunkLimits, ChunkSize } from './chunk-size.ts';
import { CHUNK_LIMITS, ROW_TILE } from './tuning.ts';

interface Machine {
  readonly msPerToken: number;
  readonly decodeMs: number;
}

const MOST_TOKENS = 512;

/** The chunk size after it has seen enough of a machine with constant rates. */
function settled({ msPerToken, decodeMs }: Machine, limits: ChunkLimits = CHUNK_LIMITS): ChunkSize {
  const chunk = new ChunkSize(MOST_TOKENS, limits);
  for (let step = 0; step < 30; step += 1) {
    chunk.observeDecode(decodeMs);
    chunk.observePrefill(ROW_TILE, ROW_TILE * msPerToken);
  }
  return chunk;
}

const between = (min: number, max: number) => fc.double({ min, max, noNaN: true });
const machineArbitrary = fc.record({ msPerToken: between(0.01, 600), decodeMs: between(0.5, 3_000) });
/** Bounds of any size: what holds must hold because of the bound, whatever it is. */
const limitsArbitrary = fc
  .record({
    leastTokens: fc.integer({ min: 4, max: 40 }),
    gapMs: fc.integer({ min: 50, max: 500 }),
    gapSteps: fc.integer({ min: 2, max: 4 }),
    tileGapMs: fc.integer({ min: 500, max: 1_500 }),
    idleMs: fc.integer({ min: 1_000, max: 4_000 }),
    firstMs: fc.integer({ min: 2_000, max: 20_000 }),
  })
  .map((limits): ChunkLimits => limits);

const always = (check: (machine: Machine, limits: ChunkLimits) => void): void =>
  fc.assert(fc.property(machineArbitrary, limitsArbitrary, check), { numRuns: 500 });

/** The time left for a chunk between two tokens of a stream. */
const gapFor = ({ decodeMs }: Machine, { gapMs, gapSteps }: ChunkLimits): number =>
  Math.max(gapMs, gapSteps * decodeMs) - decodeMs;

describe('before a prefill was measured', () => {
  it('a chunk is small, and smaller while streams decode', () => {
    const chunk = new ChunkSize(MOST_TOKENS);
    expect(chunk.budget(true)).toBeLessThan(chunk.budget(false));
    expect(chunk.budget(false)).toBeLessThan(MOST_TOKENS);
  });

  it('no chunk looks like a standstill, even if every row costs a decode step', () => {
    always(({ decodeMs }, limits) => {
      const unlimited = new ChunkSize(MOST_TOKENS, limits).budget(false);
      const chunk = new ChunkSize(MOST_TOKENS, limits);
      chunk.observeDecode(decodeMs);
      const budget = chunk.budget(false);
      expect(budget === limits.leastTokens || budget * decodeMs <= limits.firstMs).toBe(true);
      if (unlimited * decodeMs <= limits.firstMs) expect(budget).toBe(unlimited);
    });
  });
});

describe('while streams decode', () => {
  it('a chunk of whole tiles keeps the gap, and one tile more would not', () => {
    always((machine, limits) => {
      const gap = gapFor(machine, limits);
      const tileMs = ROW_TILE * machine.msPerToken;
      fc.pre(tileMs < gap * 0.999);
      const budget = settled(machine, limits).budget(true);
      expect(budget % ROW_TILE).toBe(0);
      expect(budget * machine.msPerToken).toBeLessThanOrEqual(gap * 1.001);
      if (budget < MOST_TOKENS) expect((budget + ROW_TILE) * machine.msPerToken).toBeGreaterThan(gap * 0.999);
    });
  });

  it('a tile may open a longer gap up to its own bound, and beyond that chunks are less than a tile', () => {
    always((machine, limits) => {
      const gap = gapFor(machine, limits);
      const tileMs = ROW_TILE * machine.msPerToken;
      fc.pre(tileMs > gap * 1.001 && Math.abs(tileMs - limits.tileGapMs) > 1);
      const budget = settled(machine, limits).budget(true);
      if (tileMs < limits.tileGapMs) {
        expect(budget).toBe(ROW_TILE);
      } else {
        expect(budget).toBeLessThan(ROW_TILE);
        expect(budget === limits.leastTokens || budget * machine.msPerToken <= gap * 1.001).toBe(true);
      }
    });
  });
});

describe('while nothing decodes', () => {
  it('a chunk fills the idle bound and is never smaller than beside streams', () => {
    always((machine, limits) => {
      const chunk = settled(machine, limits);
      const budget = chunk.budget(false);
      const tileMs = ROW_TILE * machine.msPerToken;
      if (tileMs <= limits.idleMs)
        expect(budget * machine.msPerToken).toBeLessThanOrEqual(limits.idleMs * 1.001);
      if (tileMs <= limits.idleMs && budget < MOST_TOKENS)
        expect((budget + ROW_TILE) * machine.msPerToken).toBeGreaterThan(limits.idleMs * 0.999);
      if (gapFor(machine, limits) <= limits.idleMs && limits.tileGapMs <= limits.idleMs)
        expect(budget).toBeGreaterThanOrEqual(chunk.budget(true));
    });
  });
});

describe('with the shipped limits', () => {
  it.each([
    // ms per token, ms per decode step, streams decode, tokens
    [1, 40, true, 192],
    [0.01, 40, true, 512],
    [10, 40, true, 64],
    [12, 40, true, 17],
    [500, 40, true, 16],
    [15, 600, true, 40],
    [10, 40, false, 64],
    [3, 40, false, 320],
    [0.01, 1, false, 512],
  ])(
    '%d ms per token and %d ms per step, decoding: %s, give %d tokens',
    (msPerToken, decodeMs, decoding, tokens) => {
      expect(settled({ msPerToken, decodeMs }).budget(decoding)).toBe(tokens);
    },
  );

  it.each([
    [40, 128],
    [250, 40],
    [5_000, 16],
  ])('a first chunk beside steps of %d ms has %d tokens', (decodeMs, tokens) => {
    const chunk = new ChunkSize(MOST_TOKENS);
    chunk.observeDecode(decodeMs);
    expect(chunk.budget(false)).toBe(tokens);
  });
});

describe('always', () => {
  it('a chunk has at least the least tokens and at most those of a call', () => {
    always((machine, limits) => {
      for (const decoding of [true, false]) {
        const budget = settled(machine, limits).budget(decoding);
        expect(budget).toBeGreaterThanOrEqual(limits.leastTokens);
        expect(budget).toBeLessThanOrEqual(MOST_TOKENS);
      }
    });
  });

  it('a first prefill that was slow by accident is soon forgotten', () => {
    const steady = settled({ msPerToken: 3, decodeMs: 40 });
    const chunk = new ChunkSize(MOST_TOKENS);
    chunk.observeDecode(40);
    chunk.observePrefill(58, 10 * 3 * 58);
    for (let step = 0; step < 5; step += 1) chunk.observePrefill(chunk.budget(true), 3 * chunk.budget(true));
    expect(chunk.budget(true)).toBe(steady.budget(true));
    expect(chunk.budget(false)).toBeGreaterThanOrEqual(steady.budget(false) - ROW_TILE);
  });
});
