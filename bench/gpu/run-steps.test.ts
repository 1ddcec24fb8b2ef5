import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Report } from './report.ts';
import { runSteps, type Step } from './run-steps.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'hearth-steps-'));
  vi.spyOn(console, 'log').mockReturnValue();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const read = (name: string): string => readFileSync(path.join(folder, name), 'utf8');

async function resultsOf(steps: readonly Step[], seconds = 60) {
  await runSteps(steps, new Report(folder), seconds);
  return JSON.parse(read('results.json')) as readonly object[];
}

describe('a run of steps', () => {
  it('goes on after a failure, and keeps what the failed step had', async () => {
    const failing: Step = {
      name: 'failing',
      seconds: 20,
      run: async ({ rows }) => {
        rows.push({ figure: 1 });
        throw new Error('the card is gone');
      },
    };
    const good: Step = { name: 'good', seconds: 20, run: async ({ rows }) => void rows.push({ figure: 2 }) };
    expect(await resultsOf([failing, good])).toMatchObject([
      { step: 'failing', rows: [{ figure: 1 }], error: 'the card is gone' },
      { step: 'good', rows: [{ figure: 2 }] },
    ]);
    expect(read('results.md')).toContain('| figure |\n| --- |\n| 1 |\nfailed: the card is gone');
  });

  it('cuts a step that never ends, and tells it', async () => {
    let isTold = false;
    const endless: Step = {
      name: 'endless',
      seconds: 0.05,
      run: ({ signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => {
            isTold = true;
          });
        }),
    };
    expect(await resultsOf([endless])).toMatchObject([{ error: 'it was cut after 0 s' }]);
    expect(isTold).toBe(true);
  });

  it('starts nothing once the time is over', async () => {
    const step: Step = { name: 'late', seconds: 20, run: () => Promise.reject(new Error('it ran')) };
    expect(await resultsOf([step], 0)).toMatchObject([{ error: 'no time was left' }]);
  });
});
