import type { BackendFacts, LoadedFacts, MeasureSpec } from '../../../../contract/load.ts';
import { type ContextSize, HOST_DEVICE, type Measurement } from '../../../../contract/memory.ts';
import { isExact } from '../../../../contract/settings/exact-rules.ts';
import { workerSettings } from '../../../../contract/settings/shapes.ts';
import { bytesOn, plus } from '../../device-memory.ts';
import type { LoadSize, Memory } from '../../ports.ts';
import { estimatedBytes, type Measured, PROCESS_BYTES, type Tuning } from '../memory-need.ts';
import type { LocalTarget } from '../model-source.ts';
import { totalMemoryBytes } from './free-memory.ts';
import { GpuMemory } from './gpu-memory.ts';
import { type MemoryRecord, recordedNeed } from './memory-record.ts';
import { countedMemory, measuredSizes, sumDevices } from './measured-memory.ts';

interface MemoryBookOptions {
  readonly tuning: Tuning;
  readonly gpu: string;
  readonly freeHostBytes: () => number;
}

/** Chosen: a load without room needs more than was free, but one failure proves only a limited factor. */
const MOST_DISTRUST = 2;
const MOST_KEPT_SIZES = 256;

export class MemoryBook {
  readonly #options: MemoryBookOptions;
  readonly #gpus = new GpuMemory();
  readonly #learned = new Map<string, MemoryRecord>();
  readonly #silent = new Set<string>();
  readonly #needs = new WeakMap<MemoryRecord, Map<string, Memory>>();
  #sharesCells = false;

  constructor(options: MemoryBookOptions) {
    this.#options = options;
  }

  booted({ devices, gpu, sharesCells }: BackendFacts, isLoading: boolean): void {
    if (!isLoading || !this.#gpus.known) this.#gpus.read(devices ?? [], gpu);
    this.#sharesCells = sharesCells === true;
  }

  free(): Memory {
    return plus([{ device: HOST_DEVICE, bytes: this.#options.freeHostBytes() }], this.#gpus.free());
  }

  total(): Memory {
    return plus([{ device: HOST_DEVICE, bytes: totalMemoryBytes() }], this.#gpus.total);
  }

  need(target: LocalTarget, size: LoadSize): Memory {
    const context = this.#contextSize(target, size);
    const record = this.#record(target);
    const estimate = [{ device: HOST_DEVICE, bytes: estimatedBytes(target.source, context) }];
    return this.#gpus.charge(record === null ? estimate : this.#recordedNeed(record, context, estimate));
  }

  isMeasured(target: LocalTarget): boolean {
    const record = this.#record(target);
    return this.#silent.has(target.revision) || (record !== null && record.reckoned.length > 0);
  }

  question(target: LocalTarget): MeasureSpec {
    const { modelId, kind, source } = target;
    const { path, threads, settings, experts } = source;
    const sizes = measuredSizes(target);
    return { modelId, kind, path, threads, settings: workerSettings(settings), experts, sizes };
  }

  /** Null answer: the native library does not report sizes, so the header and past loads must do. */
  estimated(target: LocalTarget, { sizes }: MeasureSpec, answer: Measurement | null): void {
    if (answer?.sizes.length !== sizes.length) return void this.#silent.add(target.revision);
    const process = [{ device: HOST_DEVICE, bytes: answer.processBytes }];
    const points = sizes.map((size, index) => ({
      ...size,
      memory: [...plus(process, sumDevices(answer.sizes[index] ?? []))],
    }));
    const { processBytes } = answer;
    this.#learn(target, { ...this.#recordOrNew(target), reckoned: points, processBytes });
  }

  loaded(target: LocalTarget, facts: LoadedFacts): Memory {
    const before = this.#recordOrNew(target);
    const { contextBytes, sequences } = facts;
    const size = this.#contextSize(target, {
      numCtx: facts.numCtx,
      slots: sequences,
      cells: facts.cells ?? facts.numCtx * sequences,
    });
    const { weightsBytes } = target.source;
    const processBytes = before.processBytes ?? PROCESS_BYTES;
    const memory = [...countedMemory(facts, { processBytes, weightsBytes })];
    const { refused } = before;
    const isRefuted = refused !== null && size.cells >= refused.cells && size.sequences >= refused.sequences;
    const record = {
      ...before,
      loaded: { ...size, memory, contextBytes },
      refused: isRefuted ? null : refused,
    };
    this.#learn(target, record);
    return this.#gpus.charge(memory);
  }

  refused(target: LocalTarget, size: LoadSize, free: Memory): void {
    const need = this.need(target, size);
    const [tightest] = [...need].sort(
      (a, b) => bytesOn(free, a.device) - a.bytes - (bytesOn(free, b.device) - b.bytes),
    );
    if (tightest === undefined) return;
    const { device, bytes } = tightest;
    const more = Math.min(bytes * MOST_DISTRUST, Math.max(bytes, bytesOn(free, device)) + 1);
    const memory = [{ device, bytes: more }];
    this.#learn(target, {
      ...this.#recordOrNew(target),
      refused: { ...this.#contextSize(target, size), memory },
    });
  }

  charge(memory: Memory): Memory {
    return this.#gpus.charge(memory);
  }

  hold(owner: object, memory: Memory): void {
    this.#gpus.hold(owner, memory);
  }

  release(owner: object): void {
    this.#gpus.release(owner);
  }

  confirmed(target: LocalTarget, threads: number): void {
    const { tuning } = this.#options;
    tuning.remember(target, { threads, memory: this.recall(target)?.memory ?? null });
  }

  recall(target: LocalTarget): Measured | null {
    return this.#options.tuning.recall(target);
  }

  #contextSize({ kind, source }: LocalTarget, { numCtx, slots, cells }: LoadSize): ContextSize {
    if (kind === 'embedding') return { cells: numCtx, sequences: 1, unified: false };
    const whole = numCtx * slots;
    const unified = this.#sharesCells && cells < whole && !isExact(source.settings);
    return { cells: unified ? cells : whole, sequences: slots, unified };
  }

  #record(target: LocalTarget): MemoryRecord | null {
    const learned = this.#learned.get(target.revision);
    if (learned !== undefined) return learned;
    const kept = this.recall(target)?.memory ?? null;
    return kept?.options === this.#optionsKey() ? kept : null;
  }

  #recordOrNew(target: LocalTarget): MemoryRecord {
    return (
      this.#record(target) ?? {
        options: this.#optionsKey(),
        reckoned: [],
        processBytes: null,
        loaded: null,
        refused: null,
      }
    );
  }

  #recordedNeed(record: MemoryRecord, size: ContextSize, estimate: Memory): Memory {
    const known = this.#needs.get(record) ?? new Map<string, Memory>();
    this.#needs.set(record, known);
    const key = `${size.cells} ${size.sequences} ${size.unified}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const need = recordedNeed(record, size, estimate);
    // Clients choose windows, so the number of sizes is unbounded.
    if (known.size >= MOST_KEPT_SIZES) known.clear();
    known.set(key, need);
    return need;
  }

  #optionsKey(): string {
    return `gpu=${this.#options.gpu}`;
  }

  #learn(target: LocalTarget, memory: MemoryRecord): void {
    this.#learned.set(target.revision, memory);
    this.#options.tuning.remember(target, { threads: this.recall(target)?.threads ?? null, memory });
  }
}
