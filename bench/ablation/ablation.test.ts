import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PlannerPart } from '../../src/contract/load.ts';
import { countLines, mechanisms } from './mechanisms.ts';
import { ablationTable, type Measured } from './report.ts';
import { workloads } from './workloads.ts';

const all = mechanisms({ threads: 2, draft: 'draft.gguf' });

describe('the mechanisms', () => {
  it('include every part that a worker can leave out, once', () => {
    const leftOut = all.flatMap(({ off }) => off.planner?.without ?? []);
    expect(leftOut.toSorted()).toEqual(PlannerPart.anyOf.map((part) => part.const).toSorted());
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  });

  it.each(all)('$name consists of files that exist, and differs between on and off', (mechanism) => {
    expect(mechanism.files.filter((file) => !existsSync(file))).toEqual([]);
    expect(countLines(mechanism)).toBeGreaterThanOrEqual(10 * mechanism.files.length);
    expect(mechanism.off).not.toEqual(mechanism.on);
  });

  it.each(all.flatMap(({ name, trials }) => trials.map((trial) => ({ name, ...trial }))))(
    '$name is tried on $workload, which there is',
    ({ workload, figures }) => {
      expect(workloads.has(workload)).toBe(true);
      expect(figures.length).toBeGreaterThanOrEqual(1);
    },
  );
});

describe('the table', () => {
  const measured = (mechanism: string, figures: Measured['figures'], on: number, off: number): Measured => {
    const [figure = ''] = figures;
    const pairs = [{ a: { [figure]: on, other: 1 }, b: { [figure]: off, other: 1 } }];
    return { mechanism, lines: 100, model: 'm', workload: 'burst, 1', figures, pairs };
  };

  it('counts a higher rate and a shorter time as a gain, the best mechanism first', () => {
    const table = ablationTable([
      measured('slow', ['tok/s'], 10.1, 10),
      measured('quick', ['gap p50 ms'], 10, 12),
    ]);
    expect(table.split('\n').slice(2, 4)).toEqual([
      '| quick | 100 | +20.0 % | burst, 1, gap p50 ms, m | stays |',
      '| slow | 100 | +1.0 % | burst, 1, tok/s, m | below 3 % |',
    ]);
    expect(table).toContain(
      '| quick | m | burst, 1 | gap p50 ms | 10 | 12 | +20.0 % | 0.83 (0.83 to 0.83) | 1 |',
    );
    expect(table).not.toContain('other');
  });

  it('judges a mechanism by its best figure', () => {
    const table = ablationTable([
      measured('both', ['tok/s'], 9, 10),
      measured('both', ['first token p50 ms'], 10, 11),
    ]);
    expect(table).toContain('| both | 100 | +10.0 % | burst, 1, first token p50 ms, m | stays |');
  });
});
