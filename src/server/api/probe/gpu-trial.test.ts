import { describe, expect, it } from 'vitest';
import type { BackendFacts, GpuSupport } from '../../../contract/load.ts';
import type { GpuTrial } from '../../../store/libraries/gpu-trial.ts';
import { gpuHint, GpuTrialRun, type GpuTrialPorts, LEAST_BYTES } from './gpu-trial.ts';

const CUDA: GpuSupport = { kind: 'cuda', missing: [], installed: false };
const VULKAN: GpuSupport = { kind: 'vulkan', missing: [], installed: false };

function facts(gpuSupport: GpuSupport[], gpu = 'none'): BackendFacts {
  return { folder: '', mapped: [], systemInfo: '', gpu, cpuMathCores: 2, gpuSupport };
}

describe('the hint at the start', () => {
  it('names the command for the first kind that lacks nothing but its package', () => {
    expect(gpuHint('auto', facts([CUDA, VULKAN]))).toContain('hearth gpu install cuda');
    expect(gpuHint('auto', facts([{ ...CUDA, missing: ['a driver'] }, VULKAN]))).toContain(
      'hearth gpu install vulkan',
    );
  });

  it.each([
    ['the operator chose', 'off', facts([CUDA])],
    ['a GPU is used', 'auto', facts([CUDA], 'vulkan')],
    ['a package is installed', 'auto', facts([CUDA, { ...VULKAN, installed: true }])],
    ['the system lacks something', 'auto', facts([{ ...CUDA, missing: ['a driver'] }])],
    ['the platform has no such packages', 'auto', facts([])],
  ])('says nothing where %s', (_, setting, given) => {
    expect(gpuHint(setting, given)).toBeNull();
  });
});

/** A service on a machine whose GPU lacks only Vulkan's package; what it does outside is noted. */
class Machine {
  readonly did: string[] = [];
  readonly said: string[] = [];
  readonly #timers: (() => void)[] = [];
  record: Omit<GpuTrial, 'version' | 'kind'> | null = null;
  isBusy = false;
  readonly ports: GpuTrialPorts;
  readonly run: GpuTrialRun;

  constructor(changes: Partial<GpuTrialPorts> = {}) {
    const say = (_: object, text = ''): void => void this.said.push(text);
    this.ports = {
      clock: { unixMs: () => 0, after: (_, callback) => (this.#timers.push(callback), () => {}) },
      log: { info: say, warn: say },
      gpu: 'auto',
      mayFetch: () => true,
      isBusy: () => this.isBusy,
      freeBytes: () => 16 * 2 ** 30,
      isOffline: () => false,
      fileBytes: async () => 2 ** 30,
      hasPackage: () => true,
      isFetched: async () => false,
      read: async () => this.record && { kind: 'vulkan', version: 'v', ...this.record },
      write: async (trial) => void (this.record = trial),
      fetch: async () => void this.did.push('fetch'),
      devices: async () => ({ ...facts([], 'vulkan'), devices: [GPU] }),
      compare: async () => ({ build: 100, present: 300 }),
      adopt: async () => void this.did.push('adopt'),
      drop: async () => void this.did.push('drop'),
      ...changes,
    };
    this.run = new GpuTrialRun(this.ports);
  }

  /** The next wait is over, and what follows from it has happened. */
  async wait(): Promise<void> {
    this.#timers.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }

  async load(model: Partial<typeof MODEL> = {}, given = facts([VULKAN])): Promise<void> {
    this.run.loaded({ ...MODEL, ...model }, given);
    await new Promise((resolve) => setImmediate(resolve));
    await this.wait();
  }
}

const MODEL = { id: 'm', path: '/m.gguf', kind: 'chat' as 'chat' | 'embedding' };
const GPU = { name: 'Vulkan0', description: 'A card', kind: 'gpu' as const, totalBytes: 1, freeBytes: 1 };

describe('trying a GPU', () => {
  it('uses one that is faster, from the next load while no model is loaded', async () => {
    const machine = new Machine();
    await machine.load();
    expect(machine.did).toEqual(['fetch']);
    expect(machine.record).toMatchObject({ outcome: 'faster', device: 'A card' });
    expect(machine.record?.times).toEqual({ model: 'm', gpuMs: 100, cpuMs: 300 });
    expect(await machine.run.betweenModels()).toBe(true);
    expect(await machine.run.betweenModels()).toBe(false);
    expect(machine.did).toEqual(['fetch', 'adopt']);
    expect(machine.said.at(-1)).toContain('hearth gpu remove vulkan');
  });

  it('puts in place after a restart what won before it', async () => {
    const before = new Machine();
    await before.load();
    const machine = new Machine({ isFetched: async () => true });
    machine.record = before.record;
    await machine.run.resume();
    expect(machine.did).toEqual(['adopt']);
  });

  it.each<[string, Partial<GpuTrialPorts>, string]>([
    ['is slower', { compare: async () => ({ build: 300, present: 100 }) }, 'slower'],
    [
      'is a program',
      { devices: async () => ({ ...facts([]), devices: [{ ...GPU, kind: 'cpu' }] }) },
      'no-gpu',
    ],
    ['is none', { devices: async () => facts([]) }, 'no-gpu'],
    ['crashes', { compare: () => Promise.reject(new Error('the worker crashed')) }, 'failed'],
  ])('keeps the processor where the device %s, and tries no second time', async (_, changes, outcome) => {
    const machine = new Machine(changes);
    await machine.load();
    expect(machine.record?.outcome).toBe(outcome);
    expect(machine.did).toEqual(['fetch', 'drop']);
    expect(await machine.run.betweenModels()).toBe(false);
    const after = new Machine(changes);
    after.record = machine.record;
    await after.load();
    expect(after.did).toEqual([]);
  });

  it('notes nothing where the package cannot be fetched', async () => {
    const machine = new Machine({ fetch: () => Promise.reject(new Error('no network')) });
    await machine.load();
    expect(machine.record).toBeNull();
    expect(machine.said.at(-1)).toContain('hearth gpu install vulkan');
  });

  it('waits until no request runs', async () => {
    const machine = new Machine();
    machine.isBusy = true;
    await machine.load();
    await machine.wait();
    expect(machine.did).toEqual([]);
    machine.isBusy = false;
    await machine.wait();
    expect(machine.did).toEqual(['fetch']);
  });

  it.each<[string, Partial<GpuTrialPorts>, Partial<typeof MODEL>, BackendFacts]>([
    ['fetching is forbidden', { mayFetch: () => false }, {}, facts([VULKAN])],
    ['the network is not to be used', { isOffline: () => true }, {}, facts([VULKAN])],
    ['the operator chose', { gpu: 'off' }, {}, facts([VULKAN])],
    ['the model is small', { fileBytes: async () => LEAST_BYTES - 1 }, {}, facts([VULKAN])],
    ['the model computes vectors', {}, { kind: 'embedding' }, facts([VULKAN])],
    ['memory is short', { freeBytes: () => 2 ** 30 }, {}, facts([VULKAN])],
    ['the system lacks the loader', {}, {}, facts([{ ...VULKAN, missing: ['a loader'] }])],
    ['a GPU is used', {}, {}, facts([VULKAN], 'vulkan')],
    ['CUDA is installed and ready', {}, {}, facts([{ ...CUDA, installed: true }, VULKAN])],
    ['there is no package', { hasPackage: () => false }, {}, facts([VULKAN])],
  ])('fetches nothing where %s', async (_, changes, model, given) => {
    const machine = new Machine(changes);
    await machine.load(model, given);
    expect(machine.did).toEqual([]);
  });

  it('says at the start what will be done by itself, or what came of it', async () => {
    const machine = new Machine();
    machine.run.booted(facts([VULKAN]));
    await machine.wait();
    expect(machine.said[0]).toContain('SVC_GPU_FETCH=off');
    const after = new Machine();
    after.record = { outcome: 'removed', at: '2026-01-01T00:00:00Z' };
    after.run.booted(facts([VULKAN]));
    await after.wait();
    expect(after.said[0]).toContain('removed on 2026-01-01');
  });
});

describe('what the page is told', () => {
  it('is what the machine lacks, what is fetched and tried, and what came of it', async () => {
    const seen: (string | undefined)[] = [];
    const machine: Machine = new Machine({
      fetch: async () => void seen.push(machine.run.state?.state),
      compare: async () => {
        seen.push(machine.run.state?.state);
        return { build: 300, present: 100 };
      },
    });
    expect(machine.run.state).toBeNull();
    machine.run.booted(facts([VULKAN]));
    await new Promise((resolve) => setImmediate(resolve));
    expect(machine.run.state).toMatchObject({
      state: 'lacking',
      words: expect.stringContaining('hearth gpu'),
    });
    await machine.load();
    expect(seen).toEqual(['fetching', 'trying']);
    expect(machine.run.state).toMatchObject({
      state: 'not used',
      words: expect.stringContaining('300 ms on A card'),
    });
    machine.run.booted({ ...facts([], 'vulkan'), devices: [GPU] });
    expect(machine.run.state).toEqual({ state: 'using', words: 'Models use A card.' });
  });
});
