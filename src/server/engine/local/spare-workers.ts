import type { Clock } from '../../../lib/base/clock.ts';
import type { WorkerLimits } from './limits.ts';
import type { WorkerHost } from './worker-host.ts';

interface SparePorts {
  readonly clock: Clock;
  readonly limits: Pick<WorkerLimits, 'bootRetryMs' | 'spareLullMs' | 'spareLatestMs'>;
  boot(): Promise<WorkerHost>;
  mayBoot(): boolean;
  hasProof(): boolean;
  isBusy(): boolean;
}

export class SpareWorkers {
  readonly #ports: SparePorts;
  #spare: Promise<WorkerHost> | undefined;
  #loan: Promise<unknown> = Promise.resolve();
  #cancelRetry: (() => void) | undefined;

  constructor(ports: SparePorts) {
    this.#ports = ports;
  }

  prepare(): void {
    if (this.#spare !== undefined || !this.#ports.mayBoot()) return;
    const spare = this.#ports.boot();
    this.#spare = spare;
    const forget = (): void => {
      if (this.#spare === spare) this.#spare = undefined;
    };
    spare.then(
      (worker) => worker.gone.then(forget),
      () => {
        forget();
        if (this.#ports.hasProof()) this.#retry();
      },
    );
  }

  async take(): Promise<WorkerHost> {
    const spare = this.#spare;
    this.#spare = undefined;
    await this.#loan;
    const worker = await spare?.catch(() => undefined);
    return worker?.alive === true ? worker : this.#ports.boot();
  }

  /**
   * Lends the spare for questions, to one borrower at a time, and keeps it for the next load. If `suits` rejects the
   * spare, a new one replaces it.
   */
  async lend<T>(
    ask: (worker: WorkerHost) => Promise<T>,
    suits: (worker: WorkerHost) => boolean = () => true,
  ): Promise<T> {
    const before = this.#loan;
    const loan = (async () => {
      await before;
      await this.#dropUnless(suits);
      this.prepare();
      const spare = await this.#spare;
      return ask(spare?.alive === true ? spare : await this.#ports.boot());
    })();
    // A failure belongs to the borrower; the next one only waits for the loan to end.
    this.#loan = loan.catch(() => undefined);
    return loan;
  }

  /**
   * Starting a worker keeps the cores busy for a second, at the expense of the request that waited for the load. So
   * the next spare waits until no job runs, within limits.
   */
  replace(waitedMs = 0): void {
    const { clock, limits } = this.#ports;
    const { spareLullMs, spareLatestMs } = limits;
    clock.after(spareLullMs, () => {
      if (this.#ports.isBusy() && waitedMs + spareLullMs < spareLatestMs)
        this.replace(waitedMs + spareLullMs);
      else this.prepare();
    });
  }

  async renew(): Promise<void> {
    await this.lend(
      async () => {},
      () => false,
    );
  }

  async #dropUnless(suits: (worker: WorkerHost) => boolean): Promise<void> {
    const spare = this.#spare;
    const worker = await spare?.catch(() => undefined);
    if (worker?.alive !== true || suits(worker)) return;
    if (this.#spare === spare) this.#spare = undefined;
    await worker.end();
  }

  close(): void {
    this.#cancelRetry?.();
  }

  #retry(): void {
    this.#cancelRetry?.();
    this.#cancelRetry = this.#ports.clock.after(this.#ports.limits.bootRetryMs, () => this.prepare());
  }
}
