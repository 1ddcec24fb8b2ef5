/** Open jobs for observers: client, state and times, never text. */
import type { Clock } from '../../../lib/base/clock.ts';
import type { JobEvent } from '../../../contract/job-event.ts';
import type { EngineObserver, JobListener, OpenJob, WatchedJob } from '../ports.ts';

type Entry = { -readonly [Key in keyof OpenJob]: OpenJob[Key] };

export class JobBoard implements EngineObserver {
  readonly #clock: Pick<Clock, 'unixMs'>;
  readonly #jobs = new Map<string, Entry>();
  #onChange: (() => void) | null = null;

  constructor(clock: Pick<Clock, 'unixMs'>) {
    this.#clock = clock;
  }

  get jobs(): readonly OpenJob[] {
    return [...this.#jobs.values()];
  }

  /** Reports arrivals, starts, ends and model changes; null stops. One watcher at a time. */
  watch(onChange: (() => void) | null): void {
    this.#onChange = onChange;
  }

  onChange(): void {
    this.#onChange?.();
  }

  watchJob(job: WatchedJob): JobListener {
    const entry: Entry = {
      ...job,
      submittedMs: this.#clock.unixMs(),
      waiting: { position: 1, reason: '' },
      running: null,
    };
    this.#jobs.set(job.jobId, entry);
    return {
      onEvent: (event) => {
        if (this.#note(entry, event)) this.#onChange?.();
      },
      onEnd: () => {
        this.#jobs.delete(job.jobId);
        this.#onChange?.();
      },
    };
  }

  /** True if the entry changed. Runs for every token, so most events end at the first comparison. */
  #note(entry: Entry, event: JobEvent): boolean {
    const { running } = entry;
    if (event.type === 'queued') {
      entry.waiting = { position: event.position, reason: event.reason };
      return true;
    }
    if (running === null) {
      const { promptTokens, cachedTokens, numCtx } =
        event.type === 'started' ? event : { promptTokens: 0, cachedTokens: 0, numCtx: 0 };
      entry.running = {
        sinceMs: this.#clock.unixMs(),
        promptTokens,
        cachedTokens,
        numCtx,
        firstTextMs: null,
      };
      entry.waiting = null;
      return true;
    }
    if (running.firstTextMs !== null || !isText(event)) return false;
    entry.running = { ...running, firstTextMs: this.#clock.unixMs() };
    return true;
  }
}

const isText = ({ type }: JobEvent): boolean =>
  type === 'text' || type === 'reasoning' || type === 'tool_call' || type === 'tool_arguments';

/** Chosen: shorter answers mostly measure their beginning. */
const LEAST_TOKENS = 8;

interface Speeds extends EngineObserver {
  of(modelId: string): number | null;
}

export function watchSpeeds(): Speeds {
  // Bounded, because only ids of installed models arrive here.
  const latest = new Map<string, number>();
  return {
    of: (modelId) => latest.get(modelId) ?? null,
    watchJob: ({ modelId }) => ({
      onEvent: (event) => {
        if (event.type !== 'done') return;
        const { completionTokens } = event.usage;
        const { decodeMs } = event.timings;
        if (completionTokens >= LEAST_TOKENS && decodeMs > 0)
          latest.set(modelId, (completionTokens * 1000) / decodeMs);
      },
      onEnd: () => {},
    }),
  };
}
