/** A model is measured by the spare before its load; whatever comes of that, the load goes on. */
import { expect, it } from 'vitest';
import { totalBytes } from '../../../src/server/engine/device-memory.ts';
import type { LocalBackend } from '../../../src/server/engine/local/local-backend.ts';
import { target } from '../../support/engine/scheduler-rig.ts';
import { backendOver, never, pidOf } from './worker-rig.ts';

const size = { numCtx: 512, slots: 1, cells: 512 };
const planned = (backend: LocalBackend, modelId: string) =>
  totalBytes(backend.memoryNeed(target(modelId), size) ?? []);

it('the spare that answered is the worker that loads', async () => {
  let forks = 0;
  const guard = async (): Promise<void> => {
    forks += 1;
  };
  const backend = backendOver('measurer', { backendGuard: guard });
  expect(backend.isMeasured?.(target('m'))).toBe(false);
  await Promise.all([backend.measure?.(target('m')), backend.measure?.(target('n'))]);
  expect(planned(backend, 'm')).toBe(512_007);
  expect(planned(backend, 'n')).toBe(512_007);
  const { facts } = await backend.load(target('m'), size, never);
  expect(pidOf({ facts })).toBeGreaterThan(0);
  expect(forks).toBe(1);
});

it.each(['crash', 'silent'])(
  'a worker that fails to answer (%s) leaves the estimate, and the next one loads',
  async (id) => {
    const backend = backendOver('measurer', { limits: { questionMs: 200 } });
    const estimate = planned(backend, id);
    await backend.measure?.(target(id));
    expect(backend.isMeasured?.(target(id))).toBe(true);
    expect(planned(backend, id)).toBe(estimate);
    const { facts } = await backend.load(target(id), size, never);
    expect(facts.numCtx).toBe(512);
  },
);

it('a load that runs out of memory raises what its size is planned with', async () => {
  const backend = backendOver('out-of-memory', { freeHostBytes: () => 1e12 });
  const before = planned(backend, 'm');
  await expect(backend.load(target('m'), size, never)).rejects.toMatchObject({ code: 'out_of_memory' });
  expect(planned(backend, 'm')).toBe(2 * before);
});
