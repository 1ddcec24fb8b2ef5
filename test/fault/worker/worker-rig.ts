/** What the worker tests share: a backend over a fake child, jobs, and a log that keeps what it was told. */
import { setMaxListeners } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../../src/lib/base/clock.ts';
import type { Logger } from '../../../src/lib/base/logger.ts';
import { EventQueue } from '../../../src/lib/base/event-queue.ts';
import type {
  Backend,
  Engine,
  JobListener,
  LoadedModel,
  LoadSize,
  ResidencyFacts,
  Submission,
} from '../../../src/server/engine/ports.ts';
import { fileTarget } from '../../../src/server/engine/local/model-source.ts';
import type { GenerateJob, Job } from '../../../src/contract/job.ts';
import type { JobEvent } from '../../../src/contract/job-event.ts';
import type { ModelKind } from '../../../src/contract/load.ts';
import { generateJob } from '../../support/engine/jobs.ts';
import {
  createLocalBackend,
  type LocalBackend,
  type LocalBackendOptions,
} from '../../../src/server/engine/local/local-backend.ts';

export function fixture(name: string): string {
  return fileURLToPath(new URL(`./fixtures/${name}.mjs`, import.meta.url));
}

export interface LogLine {
  readonly level: string;
  readonly facts: object;
  readonly message: string;
}

export function keepingLog(): Logger & { readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const at = (level: string) => (facts: object, message: string) => {
    lines.push({ level, facts, message });
  };
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** A backend over the named fake child; all its processes end with the test. */
export function backendOver(name: string, options: Partial<LocalBackendOptions> = {}): LocalBackend {
  const backend = createLocalBackend({
    childPath: fixture(name),
    hostEnv: { PATH: process.env['PATH'] },
    gpu: 'off',
    clock: systemClock,
    log: keepingLog(),
    draftTokens: 0,
    ...options,
  });
  onTestFinished(() => backend.close());
  return backend;
}

export function textJob(text: string, maxTokens: number | null = 1): GenerateJob {
  return generateJob({ prompt: { kind: 'text', text }, sampling: {}, maxTokens });
}

export const never = new AbortController().signal;
// Many jobs of a test share it.
setMaxListeners(0, never);

/** How a model is loaded; by default a chat model that only fake children know. */
interface Load extends Partial<LoadSize> {
  readonly kind?: ModelKind;
  readonly path?: string;
  readonly signal?: AbortSignal;
}

export function loadFrom(backend: Backend, load: Load = {}): Promise<LoadedModel> {
  const { kind = 'chat', path = '/nowhere/m.gguf', numCtx = 64, slots = 4, signal = never } = load;
  const target = fileTarget({ modelId: 'm', kind }, { path, digest: null, threads: 1 });
  return backend.load(target, { numCtx, slots, cells: numCtx }, signal);
}

/** The process that holds a model. */
export function pidOf({ facts }: { readonly facts: ResidencyFacts | null }): number {
  return facts?.details?.['pid'] ?? 0;
}

/** The events of a job as it runs; a reader that leaves early aborts it. */
export function run(model: LoadedModel, job: Job, signal: AbortSignal = never): AsyncIterable<JobEvent> {
  return read(signal, (both, listener) => model.run(job, both, listener));
}

/** The same over an engine. */
export function submit(
  engine: Engine,
  submission: Submission,
  signal: AbortSignal = never,
): AsyncIterable<JobEvent> {
  return read(signal, (both, listener) => engine.submit(submission, both, listener));
}

function read(
  signal: AbortSignal,
  start: (signal: AbortSignal, listener: JobListener) => void,
): AsyncIterable<JobEvent> {
  const left = new AbortController();
  const queue = new EventQueue<JobEvent>(() => left.abort());
  let isStarting = true;
  let isOver = false;
  const heard = (): void => {
    if (isStarting) throw new Error('the listener was called from inside the call that it was handed to');
    if (isOver) throw new Error('the listener was called after the end');
  };
  start(AbortSignal.any([signal, left.signal]), {
    onEvent: (event) => {
      heard();
      queue.push(event);
    },
    onEnd: (failure) => {
      heard();
      isOver = true;
      if (failure === null) queue.end();
      else queue.fail(failure);
    },
  });
  isStarting = false;
  return queue;
}

/** All events, or the failure that ended them. */
export async function outcome(
  events: AsyncIterable<JobEvent>,
  onEvent: (event: JobEvent) => void = () => {},
): Promise<{ events: JobEvent[]; error: unknown }> {
  const seen: JobEvent[] = [];
  try {
    for await (const event of events) {
      seen.push(event);
      onEvent(event);
    }
  } catch (error) {
    return { events: seen, error };
  }
  return { events: seen, error: undefined };
}

export function types(events: readonly JobEvent[]): string[] {
  return events.map((event) => event.type);
}

/** True while a process of that id exists and is no zombie's parent problem: a signal 0 reaches it. */
export function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
