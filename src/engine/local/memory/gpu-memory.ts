/**
 * Free memory of the GPUs. Only a worker can ask them, and it does so when it boots; in between, what the own models
 * have taken and given back since is reckoned.
 */
import { type Device, HOST_DEVICE } from '../../../contract/memory.ts';
import { bytesOn, minus, plus } from '../../device-memory.ts';
import type { Memory } from '../../ports.ts';

export class GpuMemory {
  /** Free memory at the last reading, plus all that our own models held then. */
  #unheld: Memory = [];
  /** GPUs that compute in the memory of the machine. */
  #hosted: ReadonlySet<string> = new Set();
  readonly #held = new Map<object, Memory>();

  /** Total memory of each; a GPU without a figure is absent. */
  total: Memory = [];

  known = false;

  /** `gpu` is the API of the GPUs. */
  read(devices: readonly Device[], gpu: string): void {
    this.known = true;
    const gpus = devices.filter(({ kind }) => kind === 'gpu' || kind === 'igpu');
    const free = gpus.map(({ name, freeBytes, totalBytes }) => ({
      device: name,
      // A GPU that does not report its size cannot be planned, and must still be usable.
      bytes: totalBytes === 0 ? Number.POSITIVE_INFINITY : freeBytes,
    }));
    this.total = gpus
      .filter(({ totalBytes }) => totalBytes > 0)
      .map(({ name, totalBytes }) => ({ device: name, bytes: totalBytes }));
    // Metal calls every GPU one of its own kind, and all of them share the memory of the machine.
    this.#hosted = new Set(
      gpus.filter(({ kind }) => kind === 'igpu' || gpu === 'metal').map(({ name }) => name),
    );
    const held = plus(...this.#held.values());
    this.#unheld = free.map(({ device, bytes }) => ({ device, bytes: bytes + bytesOn(held, device) }));
  }

  /** From a load to the end of its worker. */
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

  /** Memory that belongs to no GPU is the machine's, and so is the memory of a hosted GPU. */
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
