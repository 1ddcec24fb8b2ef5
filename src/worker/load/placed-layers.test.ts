import { describe, expect, it } from 'vitest';
import { loadSpec } from '../../../test/support/engine/jobs.ts';
import { answering, scriptedBackend } from '../../../test/support/engine/scripted-backend.ts';
import type { Device } from '../../contract/memory.ts';
import type { ModelOptions, NativeBackend } from '../native.ts';
import { loadChat } from './chat.ts';
import { loadEmbedding } from './embedding.ts';
import { measureModel } from './measure.ts';

const GIB = 1024 ** 3;
const LAYERS = 10;

const device = (name: string, kind: Device['kind'], freeGib: number): Device => ({
  name,
  description: '',
  kind,
  totalBytes: 100 * GIB,
  freeBytes: freeGib * GIB,
});

/** A machine on which each of ten layers takes a gibibyte, wherever it lies. */
function machine(freeGib: number) {
  const opened: ModelOptions[] = [];
  /** By another program, after the worker has booted. */
  const taken = { gib: 0 };
  const { backend } = scriptedBackend(answering(() => 'fine'));
  const onGpu: NativeBackend = {
    ...backend,
    facts: { ...backend.facts, gpu: 'vulkan', devices: [device('A', 'gpu', freeGib)] },
    devices: () => [device('CPU', 'cpu', 90), device('A', 'gpu', freeGib - taken.gib)],
    measure: async (_, { gpuLayers }, contexts) =>
      contexts.map(() => {
        const there = typeof gpuLayers === 'number' ? Math.min(gpuLayers, LAYERS) : LAYERS;
        const none = { contextBytes: 0, computeBytes: 0 };
        return [
          { device: 'CPU', modelBytes: (LAYERS - there) * GIB, ...none },
          { device: 'A', modelBytes: there * GIB, ...none },
        ];
      }),
    openModel: async (path, options, onProgress) => {
      opened.push(options);
      return backend.openModel(path, options, onProgress);
    },
  };
  return { backend: onGpu, opened, taken };
}

const spec = loadSpec({ numCtx: 1024, parallel: 1 });

describe('a load on a device that is too small for all layers', () => {
  it('puts as many there as fit', async () => {
    const { backend, opened } = machine(5);
    await loadChat(backend, spec, () => undefined);
    expect(opened.at(-1)?.gpuLayers).toBe(4);
  });

  it('counts what other programs took since its worker booted', async () => {
    const { backend, opened, taken } = machine(20);
    taken.gib = 15;
    await loadChat(backend, spec, () => undefined);
    expect(opened.at(-1)?.gpuLayers).toBe(4);
  });

  it('puts all there when they fit, and as many as its user says', async () => {
    const { backend, opened } = machine(20);
    await loadChat(backend, spec, () => undefined);
    expect(opened.at(-1)?.gpuLayers).toBeNull();
    await loadChat(backend, { ...spec, settings: { gpuLayers: 7 } }, () => undefined);
    expect(opened.at(-1)?.gpuLayers).toBe(7);
  });

  it.each(['chat', 'embedding'] as const)('is planned with as many as it gets: %s', async (kind) => {
    const { backend, opened } = machine(5);
    const load = kind === 'chat' ? loadChat : loadEmbedding;
    await load(backend, { ...spec, kind }, () => undefined);
    expect(opened.at(-1)?.gpuLayers).toBe(4);
    const { sizes } = await measureModel(backend, {
      ...spec,
      kind,
      sizes: [{ cells: 1024, sequences: 1, unified: false }],
    });
    expect(sizes[0]?.map(({ device: name, modelBytes }) => [name, modelBytes / GIB])).toEqual([
      ['CPU', 6],
      ['A', 4],
    ]);
  });
});
