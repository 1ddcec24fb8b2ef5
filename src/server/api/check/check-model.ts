/**
 * server/api/check owns the score card of a model: the facts of its template, and whether calls, JSON and past calls work.
 * It runs a worker of its own and knows nothing of the command line.
 */
import { errorMessage } from '../../../lib/errors/svc-error.ts';
import type { ExplainedEvent, JobEvent, ModelFormatFacts } from '../../../contract/job-event.ts';
import type { GenerateJob, Job } from '../../../contract/job.ts';
import { collectEvents } from '../../engine/collect.ts';
import type { LoadedModel, ModelTarget } from '../../engine/ports.ts';
import { collect } from '../chat/collected.ts';
import { startOwnWorker, type WorkerSettings } from '../own-worker.ts';
import { CASE_TOKENS, checkJob } from './check-job.ts';
import { CHECK_CASES, type CheckCase } from './cases.ts';

export interface ScoreCard {
  readonly model: string;
  readonly toolFormat: string;
  readonly format: ModelFormatFacts | null;
  readonly cases: {
    readonly all: number;
    readonly passed: number;
    readonly failed: readonly FailedCase[];
    readonly left: number;
  };
  readonly makerDefaults: Readonly<Record<string, number>>;
  readonly defects: readonly string[];
}

export interface CheckOptions {
  readonly worker: WorkerSettings;
  readonly target: ModelTarget;
  readonly makerDefaults: Readonly<Record<string, number>>;
  /** Cases that do not end within this time, the load included, are left out. */
  readonly withinMs: number;
  readonly signal: AbortSignal;
  readonly onCase?: (tried: number, all: number) => void;
}

const NUM_CTX = 2048;
/** Concurrent cases: a step of four streams costs little more than one of a single stream. */
const TOGETHER = 4;

export async function checkModel(options: CheckOptions): Promise<ScoreCard> {
  const { target, worker, signal, withinMs } = options;
  const end = performance.now() + withinMs;
  const backend = startOwnWorker(worker);
  try {
    const numCtx = Math.min(NUM_CTX, target.trainedCtx);
    const loaded = await backend.load(target, { numCtx, slots: TOGETHER, cells: TOGETHER * numCtx }, signal);
    return await checkLoaded(loaded, { ...options, end });
  } finally {
    await backend.close();
  }
}

/** No case starts or continues after `end`, on the clock of performance.now(). */
export async function checkLoaded(
  loaded: LoadedModel,
  options: Pick<CheckOptions, 'target' | 'makerDefaults' | 'signal' | 'onCase'> & {
    readonly end: number;
    readonly hurry?: AbortSignal | undefined;
  },
): Promise<ScoreCard> {
  const { target, makerDefaults, signal, hurry, onCase, end } = options;
  onCase?.(0, CHECK_CASES.length);
  const run = (job: Job, until = signal): Promise<JobEvent[]> =>
    collectEvents((listener) => loaded.run(job, until, listener));
  const about = await explained(
    run,
    checkJob('about', { prompt: CHECK_CASES[0]?.job.prompt ?? { kind: 'text', text: '' } }),
  );
  const reasons = new Map<CheckCase, string | null>();
  const waiting = [...CHECK_CASES];
  const isOver = AbortSignal.timeout(Math.max(0, Math.ceil(end - performance.now())));
  const inTime = AbortSignal.any([signal, isOver, ...(hurry === undefined ? [] : [hurry])]);
  const tryCases = async (): Promise<void> => {
    while (!inTime.aborted) {
      const each = waiting.shift();
      if (each === undefined) return;
      const reason = await runCase((job) => run(job, inTime), each);
      if (inTime.aborted) return;
      reasons.set(each, reason);
      onCase?.(reasons.size, CHECK_CASES.length);
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, tryCases));
  signal.throwIfAborted();
  const all = CHECK_CASES.length;
  const failed = CHECK_CASES.flatMap((each): FailedCase[] => {
    const reason = reasons.get(each) ?? null;
    return reason === null ? [] : [{ name: each.name, kind: each.kind, reason }];
  });
  const format = about.modelFormat ?? null;
  return {
    model: target.modelId,
    toolFormat: about.toolFormat,
    format,
    cases: { all, passed: reasons.size - failed.length, failed, left: all - reasons.size },
    makerDefaults,
    defects: formatDefects(format, failed),
  };
}

type Run = (job: Job) => Promise<JobEvent[]>;

async function runCase(run: Run, { name, kind, job, texts = [] }: CheckCase): Promise<string | null> {
  const asked = checkJob(name, job);
  try {
    if (kind === 'render') {
      const { renderedPrompt } = await explained(run, asked);
      const missing = texts.find((text) => !renderedPrompt.includes(text));
      return missing === undefined ? null : `the prompt does not contain ${JSON.stringify(missing)}`;
    }
    const events = await run(asked);
    const { answers } = await collect(
      [asked],
      events.map((event) => ({ index: 0, event })),
    );
    const { done, parts } = answers[0];
    if (done.finishReason === 'length') return `it did not end within ${CASE_TOKENS} tokens`;
    if (parts.some((part) => part.type === 'text' && /<\/?think|<\|/.test(part.text)))
      return 'marks of its format are among its words';
    return null;
  } catch (error) {
    return errorMessage(error);
  }
}

async function explained(run: Run, job: GenerateJob): Promise<ExplainedEvent> {
  const events = await run({ kind: 'explain', jobId: `${job.jobId} explained`, job });
  const event = events.find((each) => each.type === 'explained');
  if (event === undefined) throw new Error('the worker explained nothing');
  return event;
}

export interface FailedCase extends Pick<CheckCase, 'name' | 'kind'> {
  readonly reason: string;
}

export function formatDefects(format: ModelFormatFacts | null, failed: readonly FailedCase[]): string[] {
  return [...(format === null ? [] : templateDefects(format, failed)), ...historyDefects(failed)];
}

function templateDefects({ template, format }: ModelFormatFacts, failed: readonly FailedCase[]): string[] {
  if (template === 'none')
    return ['The file has no chat template: it may be a base model, and ChatML stands in.'];
  if (format.tools !== null) {
    const isLost = format.history.calls === 'text';
    return isLost
      ? ['The template drops past calls of tools; Hearth writes them into the conversation.']
      : [];
  }
  // Some models are trained on the envelope, so it counts as a defect only if its calls fail.
  const calls = failed.filter(({ kind }) => kind === 'call').length;
  if (calls === 0) return [];
  const all = CHECK_CASES.filter(({ kind }) => kind === 'call').length;
  return [
    `The template shows no call of a tool, so tools are put as svc-tool-envelope, and ${calls} of ${all} calls failed.`,
  ];
}

function historyDefects(failed: readonly FailedCase[]): string[] {
  const lost = failed
    .filter(({ kind }) => kind === 'render')
    .map(({ name }) => name.replace('history: ', ''));
  return lost.length === 0 ? [] : [`The template loses parts of conversations: ${lost.join(', ')}.`];
}
