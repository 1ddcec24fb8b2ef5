import { describe, expect, it } from 'vitest';
import { modelTarget } from '../../../../../test/support/engine/scheduler-world.ts';
import type { LoadedFacts } from '../../../../contract/load.ts';
import { bytesOn, totalBytes } from '../../device-memory.ts';
import { processTuning, type Tuning } from '../memory-need.ts';
import { isLocal, type LocalTarget } from '../model-source.ts';
import { MemoryBook } from './memory-book.ts';

const target = localTargetOf('m');
const size = { numCtx: 4_096, slots: 4, cells: 4_096 };
const larger = { numCtx: 8_192, slots: 4, cells: 8_192 };

function localTargetOf(id: string): LocalTarget {
  const made = modelTarget(id, 100);
  if (!isLocal(made)) throw new Error('not local');
  return made;
}

function bookOver(tuning: Tuning = processTuning(), gpu = 'auto'): MemoryBook {
  const book = new MemoryBook({ tuning, gpu, freeHostBytes: () => 50_000 });
  book.booted(
    { folder: '', mapped: [], systemInfo: '', gpu: 'none', cpuMathCores: 1, devices: [], sharesCells: true },
    false,
  );
  return book;
}

/** Two bytes a cell, five a sequence, and seven more for each further window; over 1,000 of weights; the process has 100. */
function measure(book: MemoryBook): void {
  const question = book.question(target);
  const sizes = question.sizes.map(({ cells, sequences, unified }) => {
    const windows = unified ? 1 : sequences;
    const contextBytes = 2 * cells + 5 * sequences + 7 * (windows - 1);
    return [{ device: 'CPU', modelBytes: 1_000, contextBytes, computeBytes: 0 }];
  });
  book.estimated(target, question, { sizes, processBytes: 100 });
}

function factsWith(over: Partial<LoadedFacts>): LoadedFacts {
  return {
    numCtx: size.numCtx,
    trainedCtx: 8_192,
    sequences: size.slots,
    threads: 1,
    calibration: [],
    gpuLayers: 0,
    contextBytes: 0,
    residentBytes: 0,
    cells: size.cells,
    ...over,
  };
}

const allocated = (bytes: number) => [{ device: 'CPU', modelBytes: bytes, contextBytes: 0, computeBytes: 0 }];

describe('the need of a model', () => {
  it('is the estimate by the header until it is measured, then what the library reckons with the process', () => {
    const book = bookOver();
    const estimate = totalBytes(book.need(target, size));
    expect(book.isMeasured(target)).toBe(false);
    measure(book);
    expect(book.isMeasured(target)).toBe(true);
    expect(book.need(target, size)).toEqual([{ device: 'CPU', bytes: 100 + 1_000 + 2 * 4_096 + 5 * 4 }]);
    expect(estimate).toBeGreaterThan(100 * 2 ** 20);
  });

  it('is more where each slot has a window of its own', () => {
    const book = bookOver();
    measure(book);
    const own = { ...size, numCtx: size.cells / size.slots };
    const ofOwn = totalBytes(book.need(target, own));
    expect(ofOwn - totalBytes(book.need(target, size))).toBe(7 * 3);
    // A load with shared cells says nothing of the other.
    book.loaded(target, factsWith({ memory: allocated(9_000) }));
    expect(totalBytes(book.need(target, size))).toBe(100 + 9_000);
    expect(totalBytes(book.need(target, own))).toBe(ofOwn);
  });

  it('stays the estimate where the library does not tell, which is asked once', () => {
    const book = bookOver();
    const estimate = book.need(target, size);
    book.estimated(target, book.question(target), null);
    expect(book.isMeasured(target)).toBe(true);
    expect(book.need(target, size)).toEqual(estimate);
  });

  it('is what a load of that size measured, and what it lacked is added to other sizes', () => {
    const book = bookOver();
    measure(book);
    const before = totalBytes(book.need(target, larger));
    const counted = book.loaded(target, factsWith({ residentBytes: 9_612, memory: allocated(9_000) }));
    expect(counted).toEqual([{ device: 'CPU', bytes: 9_612 }]);
    expect(book.need(target, size)).toEqual(counted);
    expect(totalBytes(book.need(target, larger))).toBe(before + 300);
  });

  it('counts what is allocated and not touched yet', () => {
    const book = bookOver();
    measure(book);
    expect(book.loaded(target, factsWith({ residentBytes: 10, memory: allocated(9_000) }))).toEqual([
      { device: 'CPU', bytes: 9_100 },
    ]);
  });

  it('is kept for the next process, unless that places the weights otherwise', () => {
    const tuning = processTuning();
    measure(bookOver(tuning));
    expect(bookOver(tuning).isMeasured(target)).toBe(true);
    expect(bookOver(tuning, 'off').isMeasured(target)).toBe(false);
  });
});

describe('a load that ran out of memory', () => {
  it('is believed to need more than was free, as every larger one, until a load of that size succeeds', () => {
    const book = bookOver();
    measure(book);
    const smaller = { numCtx: 2_048, slots: 4, cells: 2_048 };
    const before = book.need(target, smaller);
    book.refused(target, size, [{ device: 'CPU', bytes: 12_000 }]);
    expect(bytesOn(book.need(target, size), 'CPU')).toBe(12_001);
    expect(totalBytes(book.need(target, larger))).toBeGreaterThan(12_000);
    expect(book.need(target, smaller)).toEqual(before);
    book.loaded(target, factsWith({ memory: allocated(9_000) }));
    expect(totalBytes(book.need(target, size))).toBe(9_100);
  });

  it('is not believed without bound', () => {
    const book = bookOver();
    measure(book);
    const planned = totalBytes(book.need(target, size));
    book.refused(target, size, [{ device: 'CPU', bytes: 1e12 }]);
    expect(totalBytes(book.need(target, size))).toBe(2 * planned);
  });
});
