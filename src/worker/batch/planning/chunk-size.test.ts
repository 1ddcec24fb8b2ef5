import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CostModel } from './cost-model.ts';
import { type ChunkLimits, type ChunkOptions, ChunkSize, type RestOfStep } from './chunk-size.ts';
import { CHUNK_LIMITS, ROW_TILE } from './tuning.ts';

interface Machine {
  readonly msPerToken: number;
  readonly decodeMs: number;
}

const MOST_TOKENS = 512;

/** It knows nothing yet. */
const untaught = (options: Partial<ChunkOptions> = {}): ChunkSize =>
  new ChunkSize({ costs: new CostModel({ readsByTile: true }), mostTokens: MOST_TOKENS, ...options });

/** The chunk size after it has seen enough of a machine with constant rates. */
function settled({ msPerToken }: Pick<Machine, 'msPerToken'>, limits: ChunkLimits = CHUNK_LIMITS): ChunkSize {
  const chunk = untaught({ limits });
  for (let step = 0; step < 30; step += 1) chunk.observePrefill(ROW_TILE, ROW_TILE * msPerToken);
  return chunk;
}

/** Beside streams that decode, or not. */
const restOf = (decodeMs: number, decoding: boolean): RestOfStep => ({
  decodeMs: decoding ? decodeMs : null,
  rowMs: decodeMs,
});

const between = (min: number, max: number) => fc.double({ min, max, noNaN: true });
const machineArbitrary = fc.record({ msPerToken: between(0.01, 600), decodeMs: between(0.5, 3_000) });
/** Bounds of any size: what holds must hold because of the bound, whatever it is. */
const limitsArbitrary = fc
  .record({
    leastTokens: fc.integer({ min: 4, max: 40 }),
    firstTokens: fc.integer({ min: 4, max: 40 }),
    gapMs: fc.integer({ min: 50, max: 500 }),
    gapSteps: fc.integer({ min: 2, max: 4 }),
    tileGapMs: fc.integer({ min: 500, max: 1_500 }),
    idleMs: fc.integer({ min: 1_000, max: 4_000 }),
    dearIdleMs: fc.integer({ min: 500, max: 4_000 }),
    firstTileMs: fc.integer({ min: 1_000, max: 4_000 }),
  })
  .map((limits): ChunkLimits => limits);

const always = (check: (machine: Machine, limits: ChunkLimits) => void): void =>
  fc.assert(fc.property(machineArbitrary, limitsArbitrary, check), { numRuns: 500 });

/** The time left for a chunk between two tokens of a stream. */
const gapFor = ({ decodeMs }: Machine, { gapMs, gapSteps }: ChunkLimits): number =>
  Math.max(gapMs, gapSteps * decodeMs) - decodeMs;

describe('before a prefill was measured', () => {
  it('a chunk is small, and smaller while streams decode', () => {
    const chunk = untaught();
    expect(chunk.budget(restOf(5, true))).toBeLessThan(chunk.budget(restOf(5, false)));
    expect(chunk.budget(restOf(5, false))).toBeLessThan(MOST_TOKENS);
  });

  it('no chunk is longer than a step while nobody reads, even if every row costs a decode step', () => {
    always(({ decodeMs }, limits) => {
      const budget = untaught({ limits }).budget(restOf(decodeMs, false));
      expect(budget === limits.leastTokens || budget * decodeMs <= limits.idleMs).toBe(true);
      if (budget < 2 * ROW_TILE && budget > limits.leastTokens)
        expect((budget + 1) * decodeMs).toBeGreaterThan(limits.idleMs);
    });
  });

  it('the very first one has a few tokens, because nobody knows how slow the model is', () => {
    const unknown = { decodeMs: null, rowMs: null };
    expect(untaught().budget(unknown)).toBe(16);
  });
});

describe('while streams decode', () => {
  it('a chunk of whole tiles keeps the gap, and one tile more would not', () => {
    always((machine, limits) => {
      const gap = gapFor(machine, limits);
      const tileMs = ROW_TILE * machine.msPerToken;
      fc.pre(tileMs < gap * 0.999);
      const budget = settled(machine, limits).budget(restOf(machine.decodeMs, true));
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
      const budget = settled(machine, limits).budget(restOf(machine.decodeMs, true));
      if (tileMs < limits.tileGapMs) {
        expect(budget).toBe(ROW_TILE);
      } else {
        expect(budget).toBeLessThan(ROW_TILE);
        expect(budget === limits.leastTokens || budget * machine.msPerToken <= gap * 1.001).toBe(true);
      }
    });
  });
});

describe('deep in a prompt', () => {
  /** Rows cost twice what they cost at position 0 at these depths. */
  const taught = (readsByTile: boolean, doublesAt: { tile: number; slice: number }): ChunkSize => {
    const chunk = untaught({ costs: new CostModel({ readsByTile }) });
    for (let depth = 0; depth < 3_000; depth += ROW_TILE)
      chunk.observePrefill(ROW_TILE, ROW_TILE * 3.5 * (1 + depth / doublesAt.tile), depth);
    for (let times = 0; times < 10; times += 1)
      chunk.observePrefill(16, 16 * 3.5 * (1 + 3_000 / doublesAt.slice), 3_000);
    return chunk;
  };

  it('a tile takes over its bound where rows cost several times as much among fewer', () => {
    const chunk = taught(true, { tile: 900, slice: 230 });
    expect(chunk.budget({ ...restOf(40, true), depth: 3_000 })).toBe(ROW_TILE);
    expect(chunk.budget({ ...restOf(40, false), depth: 8_000 })).toBe(ROW_TILE);
  });

  it('takes no longer where they cost alike', () => {
    const chunk = taught(false, { tile: 900, slice: 900 });
    const budget = chunk.budget({ ...restOf(40, true), depth: 3_000 });
    expect(budget * 3.5 * (1 + 3_000 / 900)).toBeLessThanOrEqual(250);
  });

  it('slices say nothing about what a tile takes', () => {
    const chunk = settled({ msPerToken: 3 });
    for (let times = 0; times < 20; times += 1) chunk.observePrefill(16, 16 * 30, 0);
    expect(chunk.budget(restOf(40, true))).toBe(ROW_TILE);
  });

  it('a row in a tile is not believed dearer than one among fewer', () => {
    const chunk = settled({ msPerToken: 30 });
    expect(chunk.budget(restOf(40, true))).toBeLessThan(ROW_TILE);
    for (let times = 0; times < 20; times += 1) chunk.observePrefill(16, 16 * 5, 0);
    expect(chunk.budget(restOf(40, true))).toBe(ROW_TILE);
  });

  it('a first tile is tried deep in a prompt, unless the model is too slow for it', () => {
    const slicesOf = (msPerToken: number): ChunkSize => {
      const chunk = untaught();
      for (let times = 0; times < 20; times += 1) chunk.observePrefill(16, 16 * msPerToken, 1_000);
      return chunk;
    };
    expect(slicesOf(25).budget({ ...restOf(40, true), depth: 1_000 })).toBe(ROW_TILE);
    expect(slicesOf(25).budget({ ...restOf(40, true), depth: 0 })).toBeLessThan(ROW_TILE);
    expect(slicesOf(40).budget({ ...restOf(40, true), depth: 1_000 })).toBeLessThan(ROW_TILE);
  });
});

describe('while nothing decodes', () => {
  it('a chunk fills the idle bound and is never smaller than beside streams', () => {
    always((machine, limits) => {
      const chunk = settled(machine, limits);
      const budget = chunk.budget(restOf(machine.decodeMs, false));
      const tileMs = ROW_TILE * machine.msPerToken;
      const idleMs = Math.max(limits.idleMs, limits.gapSteps * machine.decodeMs);
      if (tileMs <= idleMs) expect(budget * machine.msPerToken).toBeLessThanOrEqual(idleMs * 1.001);
      if (tileMs <= idleMs && budget < MOST_TOKENS)
        expect((budget + ROW_TILE) * machine.msPerToken).toBeGreaterThan(idleMs * 0.999);
      if (gapFor(machine, limits) <= idleMs && limits.tileGapMs <= limits.idleMs)
        expect(budget).toBeGreaterThanOrEqual(chunk.budget(restOf(machine.decodeMs, true)));
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
    [500, 40, true, 4],
    [500, 40, false, 4],
    [15, 600, true, 40],
    [10, 40, false, 64],
    [3, 40, false, 320],
    [0.01, 1, false, 512],
  ])(
    '%d ms per token and %d ms per step, decoding: %s, give %d tokens',
    (msPerToken, decodeMs, decoding, tokens) => {
      expect(settled({ msPerToken }).budget(restOf(decodeMs, decoding))).toBe(tokens);
    },
  );

  it.each([
    [5, 128],
    [40, 25],
    [250, 4],
  ])('a first chunk has %d ms for a step of one row, which gives %d tokens', (decodeMs, tokens) => {
    expect(untaught().budget(restOf(decodeMs, false))).toBe(tokens);
  });

  it('a step takes a second while nobody reads, or two rows by themselves where these take longer', () => {
    expect(settled({ msPerToken: 40 }).budget(restOf(100, false))).toBe(25);
    expect(settled({ msPerToken: 140 }).budget(restOf(2_000, false))).toBe(28);
  });

  it('is not cut to a few tokens where these take as long as many', () => {
    const chunk = untaught();
    chunk.observePrefill(16, 2_000);
    const unread = { decodeMs: null, rowMs: null };
    expect(chunk.budget(unread)).toBe(8);
    chunk.observePrefill(8, 1_000);
    expect(chunk.budget(unread)).toBe(8);
    chunk.observePrefill(4, 1_950);
    expect(chunk.budget(unread)).toBe(16);
  });
});

describe('always', () => {
  it('a chunk has at least the least tokens and at most those of a call', () => {
    always((machine, limits) => {
      for (const decoding of [true, false]) {
        const budget = settled(machine, limits).budget(restOf(machine.decodeMs, decoding));
        expect(budget).toBeGreaterThanOrEqual(limits.leastTokens);
        expect(budget).toBeLessThanOrEqual(MOST_TOKENS);
      }
    });
  });

  it('a first prefill that was slow by accident is soon forgotten', () => {
    const steady = settled({ msPerToken: 3 });
    const chunk = untaught();
    chunk.observePrefill(58, 10 * 3 * 58);
    const [reading, alone] = [restOf(40, true), restOf(40, false)];
    for (let step = 0; step < 5; step += 1)
      chunk.observePrefill(chunk.budget(reading), 3 * chunk.budget(reading));
    expect(chunk.budget(reading)).toBe(steady.budget(reading));
    expect(chunk.budget(alone)).toBeGreaterThanOrEqual(steady.budget(alone) - ROW_TILE);
  });
});
