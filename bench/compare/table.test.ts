import { describe, expect, it } from 'vitest';
import { goalOf, isMet } from './goals.ts';
import { chooseScenarios, scenarios } from './scenarios.ts';
import { gapsWhileOthersBegin } from './streams.ts';
import { HEADER, row, unmeasuredRow } from './table.ts';

const found = { figure: 'decode tok/s', a: 40.126, b: 35, ratio: 1.15, least: 1.1, most: 1.2, rounds: 6 };
const INTEL = 'Intel(R) Xeon(R) Processor';

describe('goals', () => {
  it('hold in their own direction, at the bound too', () => {
    expect([1.09, 1.1].map((ratio) => isMet({ bound: 'at least', ratio: 1.1 }, ratio))).toEqual([
      false,
      true,
    ]);
    expect([1.2, 1.21].map((ratio) => isMet({ bound: 'at most', ratio: 1.2 }, ratio))).toEqual([true, false]);
  });

  it('depend on the maker of the cores where rows have other prices', () => {
    const ratios = ['AMD EPYC 9554', INTEL].map((cpu) => goalOf('concurrency-2', 'tok/s together', cpu));
    expect(ratios).toEqual([
      { bound: 'at least', ratio: 1.4 },
      { bound: 'at least', ratio: 1.1 },
    ]);
  });

  it('are set for some figures only', () => {
    expect(goalOf('decode', 'first token ms', INTEL)).toBeNull();
  });
});

describe('the table', () => {
  it('has the goal and the verdict beside the ratio', () => {
    expect(row('decode', found, { bound: 'at least', ratio: 1.1 })).toBe(
      '| decode | decode tok/s | 40.13 | 35 | 1.15 (1.10 to 1.20) | 6 | at least 1.1 | met |',
    );
    expect(row('decode', found, { bound: 'at most', ratio: 1.1 })).toContain('| at most 1.1 | **missed** |');
  });

  it('has as many columns in every row as in its header', () => {
    const columns = (line: string): number => line.split('|').length;
    const [header = ''] = HEADER.split('\n');
    for (const line of [row('decode', found, null), unmeasuredRow('decode', 2, 'b: 400 a | b\nc')])
      expect(columns(line)).toBe(columns(header));
  });
});

describe('chooseScenarios', () => {
  const names = (only?: string): string[] => chooseScenarios(only).map(({ name }) => name);

  it('takes a name for itself and for all that it begins', () => {
    expect(names('decode,burst')).toEqual(['decode', 'burst-2', 'burst-4', 'burst-8']);
    expect(names('prefill-512')).toEqual(['prefill-512']);
  });

  it('leaves out what takes long or needs another model, unless named', () => {
    const left = scenarios.map(({ name }) => name).filter((name) => !names().includes(name));
    expect(left).toEqual(['beside-idle', 'deep', 'embed-batch', 'embed-single', 'edits']);
    expect(names('edits')).toEqual(['edits']);
  });

  it('refuses an unknown name', () => {
    expect(() => names('decode,burts')).toThrow('there is no scenario "burts"');
  });
});

describe('gapsWhileOthersBegin', () => {
  const stream = (...arrivalsMs: number[]) => ({
    arrivalsMs,
    gapsMs: arrivalsMs.slice(1).map((at, i) => at - (arrivalsMs[i] ?? at)),
  });

  it('counts the gaps that open before the last of the others begins', () => {
    expect(gapsWhileOthersBegin([stream(0, 10, 50, 60), stream(45, 55, 65)])).toEqual([10, 40]);
  });

  it('has none of a stream alone, or of streams that begin at once', () => {
    expect(gapsWhileOthersBegin([stream(0, 10, 20)])).toEqual([]);
    expect(gapsWhileOthersBegin([stream(0, 10), stream(0, 12)])).toEqual([]);
  });
});
