/** Well-formed GGUF files with settings that cannot be: what the gate accepts must never end the process that loads it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { isSvcError } from '../../../src/lib/errors/svc-error.ts';
import { inspectGguf } from '../../../src/lib/gguf/inspect.ts';
import { NativeChild } from '../../fault/gguf/native-child.ts';
import { type Book, pick, scenario } from '../campaign.ts';
import { bytesOf, type GgufCase, randomCase } from './gguf-mutants.ts';
import { readRealHeader, realFiles, type RealHeader, writeDamaged } from './real-headers.ts';

/** Loading what a real header promises takes a second; the tiny models take a hundredth. */
const REAL_EVERY = 30;

const native = new NativeChild();
let folder: string;
let file: string;
let real: readonly RealHeader[];
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'hearth-campaign-'));
  file = path.join(folder, 'mutant.gguf');
  real = realFiles.map(readRealHeader);
});
afterAll(async () => {
  native.stop();
  await rm(folder, { recursive: true, force: true });
});

scenario('gguf', async ({ seed, random, book }) => {
  if (real.length > 0 && random.below(REAL_EVERY) === 0) {
    const header = pick(random, real);
    const what = `${path.basename(header.name)}: ${writeDamaged(file, header, random)}`;
    book.count('of real headers');
    const problem = await problemOf(book);
    return problem === null ? undefined : book.found(seed, `${problem}: ${what}`);
  }
  const mutant = randomCase(random);
  await writeFile(file, bytesOf(mutant));
  const problem = await problemOf(book);
  if (problem === null) return;
  const least = await smallestCase(mutant);
  book.found(seed, problem, { file: 'gguf', case: least });
});

async function smallestCase(mutant: GgufCase): Promise<GgufCase> {
  for (const change of mutant.changes) {
    const less = { ...mutant, changes: mutant.changes.filter((each) => each !== change) };
    await writeFile(file, bytesOf(less));
    if ((await problemOf()) !== null) return smallestCase(less);
  }
  return mutant;
}

/** What the gate or llama.cpp did wrong with the file, or null. */
async function problemOf(book?: Book): Promise<string | null> {
  const begun = performance.now();
  let kind: 'chat' | 'embedding';
  try {
    ({ kind } = await inspectGguf(file));
  } catch (error) {
    book?.count('refused by the gate');
    return isSvcError(error) && error.code === 'gguf_invalid' ? null : `the gate ended in ${String(error)}`;
  } finally {
    book?.measure('gate ms', performance.now() - begun);
  }
  book?.count('accepted');
  const outcome = await (kind === 'chat'
    ? native.ask('probe', file)
    : native.ask('embed', file, { texts: ['Hello!'] }));
  if (outcome.kind === 'died') return `llama.cpp ended (${outcome.how.slice(-200)})`;
  if (outcome.kind === 'hung') return 'llama.cpp is not done after half a minute';
  book?.count(outcome.kind === 'done' ? 'loaded' : 'refused by llama.cpp');
  return null;
}
