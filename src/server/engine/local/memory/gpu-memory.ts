/**
 * Free memory of the GPUs. A worker reads it at boot; between readings, allocations and releases of our own models
 * are added up.
 */
import { type Device, HOST_DEVICE } from '../../../../contract/memory.ts';
import { bytesOn, minus, plus } from '../../device-memory.ts';
import type { Memory } from '../../ports.ts';

export class GpuMemory {
  #unheld: Memory = [];
  #hosted: ReadonlySet<string> = new Set();
  readonly #held = new Map<object, Memory>();

  total: Memory = [];

  known = false;

  read(devices: readonly Device[], gpu: string): void {
    this.known = true;
    const gpus = devices.filter(({ kind }) => kind === 'gpu' || kind === 'igpu');
    const free = gpus.map(({ name, freeBytes, totalBytes }) => ({
      device: name,
      // A GPU that does not report its size cannot be planned, but must remain usable.
      bytes: totalBytes === 0 ? Number.POSITIVE_INFINITY : freeBytes,
    }));
    this.total = gpus
      .filter(({ totalBytes }) => totalBytes > 0)
      .map(({ name, totalBytes }) => ({ device: name, bytes: totalBytes }));
    this.#hosted = new Set(
      gpus.filter(({ kind }) => kind === 'igpu' || gpu === 'metal').map(({ name }) => name),
    );
    const held = plus(...this.#held.values());
    this.#unheld = free.map(({ device, bytes }) => ({ device, bytes: bytes + bytesOn(held, device) }));
  }

  hold(owner: object, memory: Memory): void {
    this.#held.set(owner, memory);
  }

  release(owner: object): void {
    this.#held.delete(owner);
  }

  free(): Memory {
    const known = new Set(this.#unheld.map(({ device }) => device));
    const held = plus(...this.#held.values()).filter(({ device }) => known.has(device));
    return minus(this.#unheld, held);
  }

  /** Memory of no GPU, and memory of a GPU that shares host memory, is charged to the host. */
  charge(memory: Memory): Memory {
    const known = new Set(this.#unheld.map(({ device }) => device));
    const own = memory.filter(({ device }) => known.has(device));
    const hosted = own.filter(({ device }) => this.#hosted.has(device));
    const host = memory.filter(({ device }) => !known.has(device));
    const bytes = [...host, ...hosted].reduce((sum, one) => sum + one.bytes, 0);
    return [
      { device: HOST_DEVICE, bytes },
      ...own.map((one) => (this.#hosted.has(one.device) ? { ...one, within: HOST_DEVICE } : one)),
    ];
  }
}
