/**
 * A world with devices: each model has a true size that only the fake native library knows, which is asked before a
 * load and measures after it, as a worker would. What is planned goes through the book of the local backend.
 */
import assert from 'node:assert/strict';
import type { LoadedFacts } from '../../../src/contract/load.ts';
import type { ContextSize, Device, DeviceBytes } from '../../../src/contract/memory.ts';
import { bytesOn, fits, minus, plus, scaled } from '../../../src/server/engine/device-memory.ts';
import { MemoryBook } from '../../../src/server/engine/local/memory/memory-book.ts';
import { processTuning } from '../../../src/server/engine/local/memory-need.ts';
import { isLocal, type LocalTarget } from '../../../src/server/engine/local/model-source.ts';
import type { LoadSize, Memory, ModelTarget, ResidencyFacts } from '../../../src/server/engine/ports.ts';
import { fail } from '../../../src/lib/errors/svc-error.ts';
import type { LoadOrder } from '../../../src/server/engine/scheduler/policy/effects.ts';
import type { SchedulerLimits } from '../../../src/server/engine/scheduler/limits.ts';
import { mib, World } from './scheduler-world.ts';

/** What a model truly takes on one device; a sliding window stops growing at so many cells per slot. */
export interface TrueSize {
  readonly device: string;
  readonly weightsMib: number;
  readonly mibPerThousandCells: number;
  readonly mibPerSlot: number;
  readonly windowCells: number;
}

export interface FakeMachine {
  readonly devices: readonly Device[];
  readonly models: ReadonlyMap<string, readonly TrueSize[]>;
  /** The share of the truth that the native library tells before a load. */
  readonly reportedShare: number;
}

/** Here a window takes the same whether it is shared or not. */
type TrueContext = Pick<ContextSize, 'cells' | 'sequences'>;

const PROCESS_MIB = 100;

export class DeviceWorld extends World {
  readonly book: MemoryBook;
  outOfMemory = 0;
  readonly #machine: FakeMachine;
  /** What is physically taken, by residency. */
  readonly #taken = new Map<number, Memory>();

  constructor(limits: Partial<SchedulerLimits>, machine: FakeMachine) {
    super(
      limits,
      machine.devices.map(({ name, totalBytes }) => ({ device: name, bytes: totalBytes })),
    );
    this.#machine = machine;
    this.book = new MemoryBook({
      tuning: processTuning(),
      gpu: 'auto',
      freeHostBytes: () => bytesOn(this.#free(), 'CPU'),
    });
    this.boot();
    for (const id of machine.models.keys()) this.unmeasured.add(id);
  }

  /** A worker boots and reads what is free. */
  boot(): void {
    const free = this.#free();
    const devices = this.#machine.devices.map((device) => ({
      ...device,
      freeBytes: bytesOn(free, device.name),
    }));
    const loading = [...this.workers.values()].some(({ state }) => state === 'loading');
    this.book.booted(
      { folder: '', mapped: [], systemInfo: '', gpu: 'vulkan', cpuMathCores: 1, devices, sharesCells: true },
      loading,
    );
  }

  override freeMemory(): Memory {
    return this.book.free();
  }

  override memoryNeed(target: ModelTarget, size: LoadSize): Memory {
    return this.book.need(asLocal(target), size);
  }

  override measureDone(): void {
    const [target] = this.measuring;
    if (target === undefined) return;
    const question = this.book.question(asLocal(target));
    const reported = (size: TrueContext) =>
      this.#truth(target, size).map(({ device, bytes }) =>
        deviceBytes(device, bytes * this.#machine.reportedShare),
      );
    this.book.estimated(asLocal(target), question, {
      sizes: question.sizes.map(reported),
      processBytes: PROCESS_MIB * mib,
    });
    super.measureDone();
  }

  override loadModel(order: LoadOrder): void {
    super.loadModel(order);
    const { target, plan } = order;
    const size = { cells: plan.cells, sequences: plan.slots };
    const taken = this.book.charge(
      plus(this.#truth(target, size), [{ device: 'CPU', bytes: PROCESS_MIB * mib }]),
    );
    this.#taken.set(order.residencyId, taken);
    if (this.#machine.reportedShare < 1) return;
    const isWithin = plan.memory.every(({ device, bytes }) => bytesOn(taken, device) <= bytes * 1.05 + mib);
    assert.ok(isWithin, 'what is planned is what is taken');
    assert.ok(fits(this.#all(), this.capacity), 'no device is over-committed');
  }

  /** Where the machine has no room for the truth, the load fails. */
  override loadDone(residencyId: number): void {
    if (this.workers.get(residencyId)?.state !== 'loading') return;
    if (fits(this.#all(), this.capacity)) return super.loadDone(residencyId);
    this.outOfMemory += 1;
    const { target, plan } = this.workers.get(residencyId)?.order ?? assert.fail();
    const free = plus(this.book.free(), []);
    this.book.refused(asLocal(target), plan, free);
    this.loadFail(residencyId, fail('out_of_memory', { model: target.modelId, reason: 'no buffer' }));
  }

  override loadFail(...failed: Parameters<World['loadFail']>): void {
    this.#taken.delete(failed[0]);
    super.loadFail(...failed);
  }

  override gone(residencyId: number): void {
    this.#taken.delete(residencyId);
    const worker = this.workers.get(residencyId);
    if (worker !== undefined) this.book.release(worker);
    super.gone(residencyId);
  }

  protected override factsOf(residencyId: number, { target, plan }: LoadOrder): ResidencyFacts {
    const truth = this.#truth(target, { cells: plan.cells, sequences: plan.slots });
    const memory = truth.map(({ device, bytes }) => deviceBytes(device, bytes));
    const facts: LoadedFacts = {
      numCtx: plan.numCtx,
      trainedCtx: target.trainedCtx,
      sequences: plan.slots,
      threads: 1,
      calibration: [],
      gpuLayers: 0,
      contextBytes: 0,
      // Not every page is touched by the load.
      residentBytes: Math.round((bytesOn(truth, 'CPU') + PROCESS_MIB * mib) * 0.9),
      cells: plan.cells,
      memory,
    };
    const counted = this.book.loaded(asLocal(target), facts);
    this.book.hold(this.workers.get(residencyId) ?? assert.fail(), counted);
    return { ...plan, memory: counted };
  }

  #truth({ modelId }: ModelTarget, { cells, sequences }: TrueContext): Memory {
    const sizes = this.#machine.models.get(modelId) ?? assert.fail('the machine knows the model');
    return plus(
      sizes.map((size) => {
        const held = Math.min(cells, size.windowCells * sequences);
        const context = (held / 1_024) * size.mibPerThousandCells + sequences * size.mibPerSlot;
        return { device: size.device, bytes: Math.round((size.weightsMib + context) * mib) };
      }),
    );
  }

  #all(): Memory {
    return plus(...this.#taken.values());
  }

  /** A load that is under way has taken about half of its share. */
  #free(): Memory {
    const halves = [...this.#taken].map(([id, memory]) =>
      this.workers.get(id)?.state === 'loading' ? scaled(memory, (bytes) => Math.round(bytes / 2)) : memory,
    );
    return scaled(minus(this.capacity, plus(...halves)), (bytes) => Math.max(0, bytes));
  }
}

function deviceBytes(device: string, bytes: number): DeviceBytes {
  return { device, modelBytes: bytes, contextBytes: 0, computeBytes: 0 };
}

function asLocal(target: ModelTarget): LocalTarget {
  return isLocal(target) ? target : assert.fail('the world knows files only');
}
