/**
 * server/api/events owns the one stream of events about the engine: a reader gets the whole state, then the changes. It
 * knows no sockets. The engine is watched only while there are readers. All readers share one log of changes, so a
 * slow one holds no memory of its own; it gets the whole state again.
 */
import type { SlotStates, SlotWork } from '../../../contract/slots.ts';
import type { Engine, OpenJob, UpstreamStatus } from '../../engine/ports.ts';
import type { Clock } from '../../../lib/base/clock.ts';
import { deferred } from '../../../lib/base/deferred.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import { ENGINE_EVENTS, type EngineState, type GpuView } from '../../../wire/operation/engine-state.ts';
import { type DeviceStatus, engineState } from './engine-view.ts';
import type { RequestRecorder } from '../requests/recorder.ts';
import { PatchLog } from './patch-log.ts';

export interface FeedPorts {
  readonly engine: Pick<Engine, 'residencies' | 'watchSlots'>;
  readonly board: {
    readonly jobs: readonly OpenJob[];
    watch(onChange: (() => void) | null): void;
  };
  readonly devices: () => readonly DeviceStatus[];
  readonly upstreams: () => readonly UpstreamStatus[];
  readonly gpu: () => GpuView | null;
  readonly recorder: Pick<RequestRecorder, 'lastNumber' | 'recording' | 'watch'>;
  readonly clock: Clock;
  readonly bootId: string;
}

export interface FeedEvent {
  readonly id: string;
  readonly event: keyof typeof ENGINE_EVENTS;
  readonly data: string;
}

const LIMITS = {
  readers: 64,
  updateMs: 250,
  /** Interval for figures without change events, such as the memory of other programs. */
  lookMs: 5_000,
  /** The log continues for this time after the last reader has left, in case it reconnects. */
  lingerMs: 10_000,
};

export class EngineFeed {
  readonly #ports: FeedPorts;
  readonly #startedMs: number;
  readonly #slots = new Map<string, SlotStates>();
  #rates = new SlotRates();
  #log: PatchLog<EngineState> | null = null;
  #number = 0;
  readonly #readers = new Set<() => void>();
  #news = deferred<void>();
  #updatedMs = Number.NEGATIVE_INFINITY;
  #cancelUpdate: (() => void) | null = null;
  #cancelLook: (() => void) | null = null;
  #cancelLinger: (() => void) | null = null;
  #isClosed = false;

  constructor(ports: FeedPorts) {
    this.#ports = ports;
    this.#startedMs = ports.clock.unixMs();
  }

  state(): EngineState {
    return this.#log === null ? this.#read() : this.#log.state;
  }

  /**
   * Changes from now on, or after the event with that id. Throws `too_many_readers`. Each event is made when the
   * reader asks for it, so a slow reader gets fewer events, never old ones. The reader counts until it ends or the
   * signal aborts.
   */
  follow(lastEventId: string | undefined, signal: AbortSignal): AsyncGenerator<FeedEvent, void, void> {
    if (this.#readers.size >= LIMITS.readers) throw fail('too_many_readers', { limit: LIMITS.readers });
    // Not in the generator: simultaneous readers are all let in before the first of them starts.
    const leave = (): void => this.#leave(leave);
    this.#readers.add(leave);
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    return this.#events(lastEventId, signal, leave);
  }

  close(): void {
    this.#isClosed = true;
    this.#wake();
    this.#end();
  }

  async *#events(
    lastEventId: string | undefined,
    signal: AbortSignal,
    leave: () => void,
  ): AsyncGenerator<FeedEvent, void, void> {
    try {
      let at = this.#eventNumber(lastEventId);
      while (!signal.aborted && !this.#isClosed) {
        const log = this.#begin();
        const missed = at === null ? null : log.since(at);
        if (missed === null) {
          at = log.number;
          yield this.#event(at, ENGINE_EVENTS.snapshot, JSON.stringify(log.state));
        } else if (missed[0] !== undefined) {
          at = missed[0].number;
          yield this.#event(at, ENGINE_EVENTS.update, missed[0].json);
        } else {
          await this.#news.promise;
        }
      }
    } finally {
      signal.removeEventListener('abort', leave);
      leave();
    }
  }

  #leave(reader: () => void): void {
    if (!this.#readers.delete(reader)) return;
    this.#wake();
    if (this.#readers.size === 0) this.#linger();
  }

  #event(number: number, event: FeedEvent['event'], data: string): FeedEvent {
    return { id: `${this.#ports.bootId}-${number}`, event, data };
  }

  #eventNumber(lastEventId: string | undefined): number | null {
    const [bootId, number = ''] = (lastEventId ?? '').split('-');
    return bootId === this.#ports.bootId && /^\d{1,15}$/.test(number) ? Number(number) : null;
  }

  #begin(): PatchLog<EngineState> {
    this.#cancelLinger?.();
    this.#cancelLinger = null;
    if (this.#log !== null) return this.#log;
    const { engine, board, clock, recorder } = this.#ports;
    board.watch(() => this.#changed());
    recorder.watch(() => this.#changed());
    engine.watchSlots((modelId, slots) => {
      this.#slots.set(modelId, slots);
      this.#rates.note(modelId, slots, clock.monotonicMs());
      this.#changed();
    });
    this.#number += 1;
    this.#log = new PatchLog(this.#read(), this.#number);
    this.#look();
    return this.#log;
  }

  #linger(): void {
    this.#cancelLinger?.();
    this.#cancelLinger = this.#ports.clock.after(LIMITS.lingerMs, () => this.#end());
  }

  #end(): void {
    if (this.#log === null) return;
    const { engine, board, recorder } = this.#ports;
    for (const cancel of [this.#cancelUpdate, this.#cancelLook, this.#cancelLinger]) cancel?.();
    this.#cancelUpdate = null;
    board.watch(null);
    recorder.watch(null);
    engine.watchSlots(null);
    this.#number = this.#log.number;
    this.#log = null;
    this.#slots.clear();
    this.#rates = new SlotRates();
  }

  #look(): void {
    this.#cancelLook = this.#ports.clock.after(LIMITS.lookMs, () => {
      this.#changed();
      this.#look();
    });
  }

  #changed(): void {
    if (this.#cancelUpdate !== null || this.#log === null) return;
    const { clock } = this.#ports;
    const dueMs = this.#updatedMs + LIMITS.updateMs - clock.monotonicMs();
    this.#cancelUpdate = clock.after(Math.max(0, dueMs), () => {
      this.#cancelUpdate = null;
      this.#updatedMs = clock.monotonicMs();
      if (this.#log?.push(this.#read(), { at_ms: Math.round(clock.unixMs()) }) === true) this.#wake();
    });
  }

  #wake(): void {
    const news = this.#news;
    this.#news = deferred();
    news.resolve();
  }

  #read(): EngineState {
    const { engine, board, devices, upstreams, gpu, recorder, clock, bootId } = this.#ports;
    const residencies = engine.residencies();
    for (const modelId of this.#slots.keys())
      if (!residencies.some((item) => item.modelId === modelId)) this.#slots.delete(modelId);
    return engineState({
      atMs: Math.round(clock.unixMs()),
      toUnixMs: clock.unixMs() - clock.monotonicMs(),
      bootId,
      startedMs: Math.round(this.#startedMs),
      residencies,
      jobs: board.jobs,
      slots: this.#slots,
      slotRate: (modelId, jobId) => this.#rates.of(modelId, jobId),
      devices: devices(),
      upstreams: upstreams(),
      gpu: gpu(),
      lastRequest: recorder.lastNumber,
      recording: recorder.recording,
    });
  }
}

interface Reading {
  readonly phase: SlotWork['phase'];
  readonly tokens: number;
  readonly atMs: number;
  readonly perS: number | null;
}

class SlotRates {
  readonly #models = new Map<string, ReadonlyMap<string, Reading>>();

  note(modelId: string, slots: SlotStates, nowMs: number): void {
    const before = this.#models.get(modelId);
    const works = slots.flatMap(({ work }) => work ?? []);
    this.#models.set(
      modelId,
      new Map(works.map((work) => [work.jobId, reading(work, nowMs, before?.get(work.jobId))])),
    );
  }

  /** Tokens per second of the present phase; null: not known yet. */
  of(modelId: string, jobId: string): number | null {
    return this.#models.get(modelId)?.get(jobId)?.perS ?? null;
  }
}

/** Half of the last rate is kept, so that a figure does not flicker from step to step. */
function reading(work: SlotWork, atMs: number, before: Reading | undefined): Reading {
  const { phase } = work;
  const tokens = phase === 'prefill' ? work.evaluatedTokens : work.writtenTokens;
  if (before?.phase !== phase || atMs <= before.atMs) return { phase, tokens, atMs, perS: null };
  const fresh = Math.max(0, ((tokens - before.tokens) * 1000) / (atMs - before.atMs));
  return { phase, tokens, atMs, perS: before.perS === null ? fresh : (before.perS + fresh) / 2 };
}
