/** What the server makes of the thread counts that a worker finds. */
import { expect, it } from 'vitest';
import type { LoadedModel } from '../../../src/server/engine/ports.ts';
import { backendOver, loadFrom, outcome, run, textJob } from './worker-rig.ts';

const threadsOf = ({ facts }: LoadedModel): number | undefined => facts.details?.['threads'];

async function find(model: LoadedModel, ...found: { threads: number; confirmed: boolean }[]): Promise<void> {
  const { error } = await outcome(run(model, textJob(JSON.stringify(found))));
  expect(error).toBeUndefined();
}

it('the count in use is the one that is shown', async () => {
  const model = await loadFrom(backendOver('finds-threads'));
  expect(threadsOf(model)).toBe(1);
  await find(model, { threads: 2, confirmed: false });
  expect(threadsOf(model)).toBe(2);
});

it('the next load begins with the last count that was confirmed, and with no other', async () => {
  const backend = backendOver('finds-threads');
  const first = await loadFrom(backend);
  await find(first, { threads: 4, confirmed: false });
  await first.unload();
  const second = await loadFrom(backend);
  expect(threadsOf(second)).toBe(1);
  await find(second, { threads: 2, confirmed: true }, { threads: 3, confirmed: false });
  await second.unload();
  const third = await loadFrom(backend);
  expect(threadsOf(third)).toBe(2);
  await find(third, { threads: 1, confirmed: true });
  await third.unload();
  expect(threadsOf(await loadFrom(backend))).toBe(1);
});

it('an embedding model measures anew, because nothing would find a remembered count wrong', async () => {
  const backend = backendOver('finds-threads');
  await find(await loadFrom(backend), { threads: 2, confirmed: true });
  expect(threadsOf(await loadFrom(backend, { kind: 'embedding' }))).toBe(1);
});
