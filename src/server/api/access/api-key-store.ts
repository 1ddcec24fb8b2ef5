import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../../lib/base/clock.ts';
import type { Logger } from '../../../lib/base/logger.ts';
import { fail, isSvcError, type SvcError } from '../../../lib/errors/svc-error.ts';
import {
  hashOfKey,
  keyFileStamp,
  type KeyRecord,
  readKeys,
  secretHashes,
} from '../../../store/keys/key-file.ts';
import { readUsage, writeUsage } from '../../../store/keys/usage-file.ts';
import { type HolderPorts, KeyHolder, type KeyUse } from './key-holder.ts';
import { ownerOfRecord } from './owner.ts';
import { TokenBudget } from './token-budget.ts';

export interface KeyDeskOptions {
  readonly home: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly isLocal: HolderPorts['isLocal'];
}

const WRITE_MS = 1_000;

export class ApiKeyStore {
  readonly #options: KeyDeskOptions;
  readonly #budget: TokenBudget;
  #holders: readonly KeyHolder[] = [];
  #stamp = '';
  #looking: Promise<void> | null = null;
  #fault: SvcError | null = null;
  #cancelWrite: (() => void) | null = null;
  #written: Promise<void> = Promise.resolve();

  private constructor(options: KeyDeskOptions, budget: TokenBudget) {
    this.#options = options;
    this.#budget = budget;
  }

  static async open(options: KeyDeskOptions): Promise<ApiKeyStore> {
    const kept = await readUsage(options.home);
    const desk = new ApiKeyStore(options, new TokenBudget(() => options.clock.unixMs(), kept));
    await desk.refresh();
    return desk;
  }

  get hasKeys(): boolean {
    return this.#holders.length > 0;
  }

  uses(): readonly KeyUse[] {
    return this.#holders.map((holder) => holder.use);
  }

  /** Compares the file's stamp. It takes microseconds, so each request can check. */
  #isRead(): boolean {
    return keyFileStamp(this.#options.home) === this.#stamp;
  }

  /** Reads what `hearth key` has changed. Rejects while the file cannot be trusted; then all requests are refused. */
  async refresh(): Promise<void> {
    while (!this.#isRead()) {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = null;
      });
      await this.#looking;
    }
    if (this.#fault !== null) throw this.#fault;
  }

  /** The holder of a secret, which may have ended, or null. Compares every hash in full, so timing reveals nothing. */
  findHolder(offered: string): KeyHolder | null {
    const hash = Buffer.from(hashOfKey(offered), 'hex');
    let found: KeyHolder | null = null;
    for (const holder of this.#holders) {
      for (const sha256 of secretHashes(holder.record))
        if (timingSafeEqual(hash, Buffer.from(sha256, 'hex'))) found = holder;
    }
    return found;
  }

  findHolderByOwner(owner: string): KeyHolder | null {
    return this.#holders.find((holder) => holder.owner === owner) ?? null;
  }

  async close(): Promise<void> {
    if (this.#cancelWrite !== null) {
      this.#cancelWrite();
      this.#write();
    }
    await this.#written;
  }

  /** If the file changes during the read, its stamp differs and the next check reads it again. */
  async #look(): Promise<void> {
    const { home, log } = this.#options;
    const stamp = keyFileStamp(home);
    try {
      const isFirst = this.#stamp === '';
      const records = await readKeys(home);
      if (!isFirst) this.#logChanges(records);
      this.#adopt(records);
      this.#fault = null;
    } catch (error) {
      this.#fault = isSvcError(error) ? error : fail('internal', {}, error);
      log.error({ error }, 'The API keys cannot be read; nobody comes in.');
    }
    this.#stamp = stamp;
  }

  #logChanges(records: readonly KeyRecord[]): void {
    const before = new Map(this.#holders.map(({ record }) => [record.name, JSON.stringify(record)]));
    const after = new Map(records.map((record) => [record.name, JSON.stringify(record)]));
    const names = [...new Set([...before.keys(), ...after.keys()])];
    const changed = names.filter((name) => before.get(name) !== after.get(name));
    const named = (are: (name: string) => boolean) => changed.filter(are).join(', ') || undefined;
    if (changed.length === 0) return;
    const facts = {
      added: named((name) => !before.has(name)),
      changed: named((name) => before.has(name) && after.has(name)),
      removed: named((name) => !after.has(name)),
    };
    this.#options.log.info(facts, 'The API keys have changed.');
  }

  /** Running requests still count for a key that remains. */
  #adopt(records: readonly KeyRecord[]): void {
    const before = new Map(this.#holders.map((holder) => [holder.owner, holder]));
    this.#holders = records.map(
      (record) => before.get(ownerOfRecord(record))?.with(record) ?? this.#newHolder(record),
    );
  }

  #newHolder(record: KeyRecord): KeyHolder {
    return new KeyHolder(record, {
      budget: this.#budget,
      nowMs: () => this.#options.clock.unixMs(),
      isLocal: this.#options.isLocal,
      onUse: () => this.#writeSoon(),
    });
  }

  #writeSoon(): void {
    this.#cancelWrite ??= this.#options.clock.after(WRITE_MS, () => this.#write());
  }

  #write(): void {
    this.#cancelWrite = null;
    this.#written = this.#written
      .then(() => writeUsage(this.#options.home, this.#budget.usage))
      .catch((error: unknown) => this.#options.log.warn({ error }, 'The use of API keys cannot be written.'));
  }
}
