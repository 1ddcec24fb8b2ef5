/** Well-formed GGUF files with settings that cannot be: what the gate accepts must never end the process that loads it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { isSvcError } from '../../src/lib/errors/svc-error.ts';
import { inspectGguf } from '../../src/lib/gguf/gate/inspect.ts';
import { NativeChild } from '../fault/gguf/native-child.ts';
import { scenario } from './campaign.ts';
import { ggufMutant } from './gguf-mutants.ts';

const native = new NativeChild();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'hearth-campaign-'));
});
afterAll(async () => {
  native.stop();
  await rm(folder, { recursive: true, force: true });
});

scenario('gguf', async ({ seed, random, book }) => {
  const { changes, bytes } = ggufMutant(random);
  const file = path.join(folder, 'mutant.gguf');
  await writeFile(file, bytes);
  const begun = performance.now();
  let kind: 'chat' | 'embedding';
  try {
    ({ kind } = await inspectGguf(file));
  } catch (error) {
    if (!isSvcError(error) || error.code !== 'gguf_invalid')
      book.found(seed, `the gate ended in ${String(error)}: ${changes.join('; ')}`);
    return book.count('refused by the gate');
  } finally {
    book.measure('gate ms', performance.now() - begun);
  }
  book.count('accepted');
  const outcome = await (kind === 'chat'
    ? native.ask('probe', file)
    : native.ask('embed', file, { texts: ['Hello!'] }));
  if (outcome.kind === 'died')
    book.found(seed, `llama.cpp ended (${outcome.how.slice(-200)}): ${changes.join('; ')}`);
  else book.count(outcome.kind === 'done' ? 'loaded' : 'refused by llama.cpp');
});
