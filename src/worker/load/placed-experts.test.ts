import { describe, expect, it } from 'vitest';
import { loadSpec } from '../../../test/support/engine/jobs.ts';
import { answering, scriptedBackend } from '../../../test/support/engine/scripted-backend.ts';
import type { Device } from '../../contract/memory.ts';
import type { ContextOptions, LoadOptions, NativeBackend } from '../native.ts';
import { loadChat } from './chat.ts';
import { measureModel } from './measure.ts';

const GIB = 1024 ** 3;
const experts = { layerBytes: [2 * GIB, 2 * GIB, 2 * GIB] };

const device = (name: string, freeGib: number): Device => ({
  name,
  description: '',
  kind: name === 'CPU' ? 'cpu' : 'gpu',
  totalBytes: 100 * GIB,
  freeBytes: freeGib * GIB,
});

/** A machine on which the model takes 8 GiB of experts and other weights, and 1 GiB for each 1,024 cells. */
function machine(...devices: readonly Device[]) {
  const opened: LoadOptions[] = [];
  let questions = 0;
  const { backend } = scriptedBackend(answering(() => 'fine'));
  const taken = ({ tensorBuffers }: LoadOptions, { numCtx }: ContextOptions) => {
    const onCpu = tensorBuffers.some(({ pattern }) => pattern.startsWith('\\')) ? 3 : tensorBuffers.length;
    const moved = onCpu * 2 * GIB;
    return [
      { device: 'CPU', modelBytes: moved, contextBytes: 0, computeBytes: 50 * GIB },
      { device: 'A', modelBytes: 8 * GIB - moved, contextBytes: (numCtx / 1024) * GIB, computeBytes: 0 },
    ];
  };
  const onGpu: NativeBackend = {
    ...backend,
    facts: { ...backend.facts, gpu: 'vulkan' },
    devices: () => [device('CPU', 90), ...devices],
    measure: async (_, options, contexts) => {
      questions += 1;
      return contexts.map((context) => taken(options as LoadOptions, context));
    },
    openModel: async (path, options, onProgress) => {
      opened.push(options as LoadOptions);
      return backend.openModel(path, options, onProgress);
    },
  };
  const layersOf = async (fields: Parameters<typeof loadSpec>[0]) => {
    await loadChat(onGpu, loadSpec({ experts, numCtx: 1024, parallel: 1, ...fields }), () => undefined);
    return opened.at(-1)?.tensorBuffers.length;
  };
  return { backend: onGpu, layersOf, questions: () => questions };
}

describe('a load of a mixture', () => {
  it('leaves as few layers of experts on the CPU as make the rest fit the devices', async () => {
    expect(await machine(device('A', 10)).layersOf({})).toBe(0);
    expect(await machine(device('A', 8)).layersOf({})).toBe(1);
    expect(await machine(device('A', 4), device('B', 4)).layersOf({ settings: { cpuMoe: 'auto' } })).toBe(1);
    expect(await machine(device('A', 8)).layersOf({ numCtx: 2048 })).toBe(2);
  });

  it('counts only the devices that it may use', async () => {
    const two = machine(device('A', 4), device('B', 6));
    expect(await two.layersOf({ settings: { gpu: ['B'] } })).toBe(2);
  });

  it('asks the library nothing where there is nothing to place, or the user has placed it', async () => {
    const small = machine(device('A', 1));
    const gpuLayers = 'all';
    expect(await small.layersOf({ experts: null, settings: { gpuLayers } })).toBe(0);
    expect(await small.layersOf({ settings: { gpu: 'off' } })).toBe(0);
    expect(await small.layersOf({ settings: { gpuLayers, cpuMoe: 'off' } })).toBe(0);
    expect(await small.layersOf({ settings: { gpuLayers, cpuMoe: 2 } })).toBe(2);
    expect(small.questions()).toBe(0);
  });
});

describe('a question about the memory of a mixture', () => {
  it('is answered as a load of each size would place its experts', async () => {
    const { backend, questions } = machine(device('A', 8));
    const { modelId, path, kind, threads, settings } = loadSpec();
    const sizes = [1024, 2048, 1024].map((cells) => ({ cells, sequences: 1, unified: false }));
    const found = await measureModel(backend, { modelId, path, kind, threads, settings, experts, sizes });
    const onDevice = found.sizes.map((bytes) => bytes[1]?.modelBytes);
    expect(onDevice).toEqual([6 * GIB, 4 * GIB, 6 * GIB]);
    expect(questions()).toBe(3);
  });
});
