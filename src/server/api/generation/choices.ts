/**
 * server/api/generation owns what chat and text completion share: it turns request fields into jobs, merges their events
 * into one queue per request, and builds the common parts of answers. It knows no messages, tools or templates.
 */
import { createHash, randomInt } from 'node:crypto';
import { isExact } from '../../../contract/settings/exact-rules.ts';
import { EventQueue } from '../../../lib/base/event-queue.ts';
import type { GenerateJob } from '../../../contract/job.ts';
import type { JobEvent } from '../../../contract/job-event.ts';
import type { ContextEdit, Engine, JobListener, Route, Submission } from '../../engine/ports.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import { type Caller, clientFields, type RequestAccount, newJobId } from '../caller.ts';
import type { ServedModel } from '../models/served-model.ts';
import {
  type GenerationFields,
  readKeepAlive,
  readSampling,
  readStop,
  readTokenRules,
  resolveMaxTokens,
} from './parameters.ts';
import { ScoreBudget } from './prompt-scores.ts';
import type { AskedAdapter } from '../../../wire/inference/generation.ts';

export type JobContent = Pick<
  GenerateJob,
  'prompt' | 'tools' | 'toolChoice' | 'maxCalls' | 'format' | 'reasoning' | 'topLogprobs' | 'scoredPrompt'
>;

export interface Choices {
  readonly model: ServedModel;
  readonly submission: Omit<Submission, 'job'>;
  readonly jobs: readonly GenerateJob[];
  readonly account?: RequestAccount | undefined;
  readonly showsProgress?: boolean;
  readonly edits?: readonly ContextEdit[];
}

export interface ChoiceEvent {
  readonly index: number;
  readonly event: JobEvent;
}

export function planChoices(
  fields: GenerationFields,
  content: JobContent,
  { model, caller }: { readonly model: ServedModel; readonly caller: Caller },
): Choices {
  const target = model.target();
  caller.account?.onModel(model.id);
  if (fields.svc_exact === true && !isExact(model.settings)) {
    const isRemote = target.engine !== 'local';
    throw fail('not_exact', { model: model.id, isRemote, param: 'svc_exact' });
  }
  const { maxTokens, isGiven } = resolveMaxTokens(fields);
  const { defaults } = model;
  const sampling = { ...defaults.sampling, ...readSampling(fields) };
  // A limit or a seed of -1 means none, and overrides the model's default.
  const asked = fields.seed === -1 ? undefined : sampling.seed;
  const seed = asked ?? (target.capabilities.drawsSeed === true ? null : unaskedSeed(model, content));
  const { seed: _, ...unseeded } = sampling;
  const numCtx = typeof fields.num_ctx === 'number' ? Math.min(fields.num_ctx, target.trainedCtx) : null;
  const keepAliveMs = readKeepAlive(fields.keep_alive ?? defaults.keepAlive);
  const adapters = chooseAdapters(fields.lora, model);
  const tokenRules = readTokenRules(fields, content);
  const hasStop = fields.stop !== null && fields.stop !== undefined;
  const job = (index: number): GenerateJob => ({
    kind: 'generate',
    jobId: newJobId(caller),
    domain: caller.owner,
    ...content,
    sampling: seed === null ? unseeded : { ...sampling, seed: (seed + index) % 2 ** 32 },
    ...tokenRules,
    ...(fields.stream === true ? { reportsProgress: true } : {}),
    adapters,
    maxTokens: isGiven ? maxTokens : defaults.maxTokens,
    ...(isGiven && maxTokens === null ? { isUnlimited: true } : {}),
    numCtx,
    // A stop string would cut JSON in two; its grammar ends it.
    stop: isJson(content.format) ? [] : hasStop ? readStop(fields.stop) : [...defaults.stop],
    templateClockMs: null,
    lane: 'shared',
  });
  const jobs = Array.from({ length: fields.n ?? 1 }, (_, index) => job(index));
  if (asked === undefined && !isExact(model.settings)) for (const each of jobs) withoutSeed.add(each);
  return {
    model,
    submission: { target, route: mergeRoute(fields, caller), ...clientFields(caller), numCtx, keepAliveMs },
    account: caller.account,
    showsProgress: fields.return_progress === true,
    jobs,
  };
}

function unaskedSeed({ settings }: ServedModel, content: JobContent): number {
  if (!isExact(settings)) return randomInt(2 ** 32 - 1);
  const asked = createHash('sha256').update(JSON.stringify(content)).digest();
  return asked.readUInt32BE() % (2 ** 32 - 1);
}

export function asWhole({ jobs, ...choices }: Choices): Choices {
  const whole = jobs.map((job): GenerateJob => {
    const joined = { ...job, isWhole: true };
    if (withoutSeed.has(job)) withoutSeed.add(joined);
    return joined;
  });
  return { ...choices, jobs: whole };
}

const withoutSeed = new WeakSet<GenerateJob>();

/** An equal request gets an equal answer: greedy, or with a requested seed. */
export function isRepeatable(job: GenerateJob): boolean {
  return job.lane !== 'shared' || job.sampling.temperature === 0 || !withoutSeed.has(job);
}

function mergeRoute(
  { prompt_cache_key: key, svc_resume: resume }: GenerationFields,
  { route }: Caller,
): Route {
  return { ...route, session: key ?? route?.session, mayResume: resume === true };
}

export function isJson({ kind }: GenerateJob['format']): boolean {
  return kind === 'json_object' || kind === 'json_schema';
}

/** More answers than slots would arrive one after the other, which defeats the purpose of n. */
export function checkSlots(engine: Pick<Engine, 'plan'>, { submission, jobs }: Choices): void {
  const n = jobs.length;
  if (n === 1) return;
  const { slots } = engine.plan(submission.target, submission.numCtx);
  if (n <= slots) return;
  throw fail('invalid_request', {
    param: 'n',
    message: `n is ${n}, but this model runs ${slots} answers at a time; ask for at most ${slots}.`,
  });
}

/**
 * Submits all choices at once and yields their events as they arrive. The first failure, or a reader that leaves,
 * stops all of them. Events that cannot be held back are bounded by the context window; an engine that can pause its
 * source does so while the reader is slow.
 */
export function runChoices(
  engine: Pick<Engine, 'submit'>,
  { submission, jobs, account, edits }: Choices,
  signal: AbortSignal,
): AsyncIterable<ChoiceEvent> {
  // Follows the client's signal manually: AbortSignal.any costs more than everything else here.
  const stop = new AbortController();
  const onAbort = (): void => stop.abort();
  // A signal made by AbortSignal.any is never collected while it has listeners.
  const forget = (): void => signal.removeEventListener('abort', onAbort);
  const giveUp = (): void => {
    forget();
    stop.abort();
  };
  if (signal.aborted) stop.abort();
  else signal.addEventListener('abort', onAbort, { once: true });
  const merged = new EventQueue<ChoiceEvent>(giveUp);
  const budget = new ScoreBudget();
  let open = jobs.length;
  const failAll = (error: unknown): void => {
    merged.fail(error);
    giveUp();
  };
  const listener = (job: GenerateJob, index: number): JobListener => {
    let isDone = false;
    return {
      onEvent: (event) => {
        isDone = event.type === 'done';
        try {
          budget.note(job, event);
        } catch (error) {
          return failAll(error);
        }
        account?.onEvent(event);
        merged.push({ index, event });
      },
      room: () => merged.room(),
      onEnd: (failure) => {
        // An engine that stops without `done` has failed; its answer must not look complete.
        const silent = isDone ? null : new Error('an answer ended without a done event');
        const error = failure ?? silent;
        if (error !== null) return failAll(error);
        open -= 1;
        if (open > 0) return;
        forget();
        merged.end();
      },
    };
  };
  try {
    const asked = { ...submission, check: account ?? {}, edits };
    jobs.forEach((job, index) => engine.submit({ ...asked, job }, stop.signal, listener(job, index)));
  } catch (error) {
    failAll(error);
  }
  return merged;
}

type Adapters = GenerateJob['adapters'];

function chooseAdapters(
  asked: readonly AskedAdapter[] | null | undefined,
  { id, settings: { lora: attached = [] } }: Pick<ServedModel, 'id' | 'settings'>,
): Adapters {
  if (asked === null || asked === undefined) return attached.filter(({ scale }) => scale !== 0);
  const scales = new Map<string, number>();
  for (const { name, scale } of asked) {
    const found = attached.find((adapter) => adapter.name === name.toLowerCase());
    if (found === undefined) throw unknown(name, id, attached);
    if (scales.has(found.name)) throw refuse(`lora names ${found.name} twice; name each adapter once.`);
    scales.set(found.name, scale ?? 1);
  }
  return attached.flatMap(({ name }) => {
    const scale = scales.get(name) ?? 0;
    return scale === 0 ? [] : [{ name, scale }];
  });
}

function unknown(name: string, model: string, attached: Adapters): Error {
  const known = attached.map((adapter) => adapter.name).join(', ');
  const remedy = known === '' ? `attach one with: hearth set ${model} lora=NAME` : `it has ${known}`;
  return refuse(`Model "${model}" has no adapter ${JSON.stringify(name.slice(0, 64))}; ${remedy}.`);
}

const refuse = (message: string): Error => fail('invalid_request', { param: 'lora', message });
