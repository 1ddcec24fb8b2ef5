/**
 * Random damage against the gate, and what passes the gate against llama.cpp.
 * `SVC_LONG_TESTS=1` takes 10,000 instead of 2,000 and loads all that pass.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mutants } from '../../fixtures/gguf/mutants.ts';
import { isSvcError } from '../../../src/lib/errors/svc-error.ts';
import { inspectGguf } from '../../../src/lib/gguf/inspect.ts';
import { NativeChild } from './native-child.ts';

const LONG = process.env['SVC_LONG_TESTS'] === '1';
const COUNT = LONG ? 10_000 : 2000;
const SEED = 1;
/** How many of those that pass the gate are also loaded; all of them in a long run. */
const LOADS = LONG ? COUNT : 40;

const native = new NativeChild();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hearth-mutants-'));
});
afterAll(async () => {
  native.stop();
  await rm(folder, { recursive: true, force: true });
});

describe(`${COUNT} random mutants of seed ${SEED}`, () => {
  it('are passed or refused with a reason, and none that pass can kill a worker', async () => {
    const path = join(folder, 'mutant.gguf');
    const tally = { refused: 0, passed: 0, loaded: 0, refusedByLlama: 0 };
    for (const mutant of mutants(SEED, COUNT)) {
      await writeFile(path, mutant.bytes);
      if (!(await passesGate(path, mutant.name))) {
        tally.refused += 1;
        continue;
      }
      tally.passed += 1;
      if (tally.passed > LOADS) continue;
      const outcome = await native.ask('probe', path);
      expect(['done', 'refused'], `${mutant.name} passed the gate: ${JSON.stringify(outcome)}`).toContain(
        outcome.kind,
      );
      tally[outcome.kind === 'done' ? 'loaded' : 'refusedByLlama'] += 1;
    }
    expect(tally.refused + tally.passed).toBe(COUNT);
    // Both kinds must occur, or the mutants test nothing.
    expect(tally.refused).toBeGreaterThan(COUNT / 2);
    expect(tally.passed).toBeGreaterThan(COUNT / 100);
    if (COUNT > 2000) process.stderr.write(`${JSON.stringify(tally)}\n`);
  }, 3_600_000);
});

/** True if the gate lets the file through; any other end than `gguf_invalid` fails the test. */
async function passesGate(path: string, name: string): Promise<boolean> {
  try {
    await inspectGguf(path);
    return true;
  } catch (error) {
    const isTyped = isSvcError(error) && error.code === 'gguf_invalid';
    expect(isTyped, `${name} ended in ${String(error)}`).toBe(true);
    return false;
  }
}
