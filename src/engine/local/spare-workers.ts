/** Workers that have booted and wait for a model: when they are started, and who gets them. */
import type { Clock } from '../../lib/base/clock.ts';
import type { WorkerLimits } from './limits.ts';
import type { WorkerHost } from './worker-host.ts';

/** What the spares must be told of the backend that keeps them. */
export interface SparePorts {
  readonly clock: Clock;
  readonly limits: Pick<WorkerLimits, 'bootRetryMs' | 'spareLullMs' | 'spareLatestMs'>;
  boot(pool: number): Promise<WorkerHost>;
  mayBoot(): boolean;
  /** Whether a worker has booted and still lives, so that a failed boot is worth another try. */
  hasProof(): boolean;
  isBusy(): boolean;
}

export class SpareWorkers {
  readonly #ports: SparePorts;
  /** By the size of their thread pool. */
  readonly #spares = new Map<number, Promise<WorkerHost>>();
  /** The sizes that a spare is kept of: the first from the start, another once it was asked for. */
  readonly #pools: Set<number>;
  /** The last loan of each pool; a spare on loan is not taken before it is back. */
  readonly #loans = new Map<number, Promise<unknown>>();
  #cancelRetry: (() => void) | undefined;

  constructor(pool: number, ports: SparePorts) {
    this.#pools = new Set([pool]);
    this.#ports = ports;
  }

  /** Starts those that are missing; never throws. */
  prepare(): void {
    for (const pool of this.#pools) this.#prepareOne(pool);
  }

  /** The spare, booting or booted; a new worker if there is none or it has died. */
  async take(pool: number): Promise<WorkerHost> {
    this.#pools.add(pool);
    const spare = this.#spares.get(pool);
    this.#spares.delete(pool);
    await this.#loans.get(pool);
    const worker = await spare?.catch(() => undefined);
    return worker?.alive === true ? worker : this.#ports.boot(pool);
  }

  /** Lets the spare be asked something, one asker at a time, and keeps it for the load that follows. */
  async lend<T>(pool: number, ask: (worker: WorkerHost) => Promise<T>): Promise<T> {
    this.#pools.add(pool);
    const before = this.#loans.get(pool);
    const loan = (async () => {
      await before;
      this.#prepareOne(pool);
      const spare = await this.#spares.get(pool);
      return ask(spare?.alive === true ? spare : await this.#ports.boot(pool));
    })();
    // A failure is the asker's; whoever is next waits for its end only.
    const over = loan.catch(() => undefined);
    this.#loans.set(pool, over);
    return loan;
  }

  /**
   * Starting a worker keeps the cores busy for a second, which the request that waited for a load would pay for:
   * so the next spare waits until no job runs, within limits.
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

  close(): void {
    this.#cancelRetry?.();
  }

  #prepareOne(pool: number): void {
    if (this.#spares.has(pool) || !this.#ports.mayBoot()) return;
    const spare = this.#ports.boot(pool);
    this.#spares.set(pool, spare);
    const forget = (): void => {
      if (this.#spares.get(pool) === spare) this.#spares.delete(pool);
    };
    spare.then(
      (worker) => worker.gone.then(forget),
      () => {
        forget();
        if (this.#ports.hasProof()) this.#retry();
      },
    );
  }

  #retry(): void {
    this.#cancelRetry?.();
    this.#cancelRetry = this.#ports.clock.after(this.#ports.limits.bootRetryMs, () => this.prepare());
  }
}
