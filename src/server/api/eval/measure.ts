/** What one model does with the set, in a worker of its own. An interrupted measurement continues with its next part. */
import { type Static, type TSchema, Type } from 'typebox';
import { FrozenHost } from '../../../contract/frozen.ts';
import type { JobEvent, PromptToken } from '../../../contract/job-event.ts';
import type { GenerateJob, Job } from '../../../contract/job.ts';
import { MOST_ALTERNATIVES } from '../../../contract/limits.ts';
import { whyNotExact } from '../../../contract/settings/exact-rules.ts';
import { collectEvents, requireEvent } from '../../engine/collect.ts';
import { totalBytes } from '../../engine/device-memory.ts';
import type { LocalBackend } from '../../engine/local/local-backend.ts';
import type { LocalTarget } from '../../engine/local/model-source.ts';
import type { LoadedModel, LoadSize } from '../../engine/ports.ts';
import { isFailure, isSvcError } from '../../../lib/errors/svc-error.ts';
import { EvalReport, Needle, type NotTried } from '../../../trust/evidence/eval-statement.ts';
import { checkJob } from '../check/check-job.ts';
import { checkLoaded } from '../check/check-model.ts';
import { plannedLoad } from '../fit/fit-model.ts';
import { startOwnWorker, type WorkerSettings } from '../own-worker.ts';
import { FACTS, hiddenIn, missedFacts, RECALL } from './needle.ts';
import type { OwnRequests } from './own-requests.ts';
import type { Parts } from './parts.ts';
import { EVAL_TEXTS, FILLER } from './texts.ts';

const TokenScore = Type.Object({
  id: Type.Integer(),
  logprob: Type.Number(),
  /** The likeliest tokens with their log probabilities, in order. */
  top: Type.Array(Type.Tuple([Type.Integer(), Type.Number()])),
});
export type TokenScore = Static<typeof TokenScore>;

/** Without its first token, which follows nothing. */
const ScoredText = Type.Object({
  name: Type.String(),
  bytes: Type.Integer(),
  tokens: Type.Array(TokenScore),
});
export type ScoredText = Static<typeof ScoredText>;

const Speeds = Type.Object({ readPerS: Type.Number(), writtenPerS: Type.Number() });
/** The libraries that a run maps, or why no run may account for them. */
const Host = Type.Union([FrozenHost, Type.Object({ unknown: Type.String() })]);
const Size = Type.Object({ memoryBytes: Type.Integer(), host: Host });
const { cases: Cases } = EvalReport.properties;
type Cases = Static<typeof Cases>;

export interface Predictions {
  readonly model: string;
  readonly texts: readonly ScoredText[];
  /** A conversation as the model's template puts it. */
  readonly rendered: string;
}

export interface Measurement extends Predictions, Static<typeof Speeds>, Static<typeof Size> {
  readonly own: readonly ScoredText[];
  readonly cases: Cases;
  /** Null: not tried. */
  readonly needle: Needle | null;
  readonly notTried: readonly NotTried[];
}

/** A model to compare with. For a model of an upstream, only the predictions are known. */
export interface Reference extends Pick<Measurement, 'model' | 'texts' | 'own' | 'needle'> {
  readonly rendered: string | null;
  readonly readPerS: number | null;
  readonly writtenPerS: number | null;
  readonly memoryBytes: number | null;
}

export interface MeasureOptions {
  readonly worker: WorkerSettings;
  readonly target: LocalTarget;
  /** Slots of a load, as the user set them; null: as memory allows. */
  readonly slots: number | null;
  /** Cases of calls and JSON that do not end within this time are left out; null: none is tried. */
  readonly casesWithinMs: number | null;
  readonly own: OwnRequests;
  readonly parts: Pick<Parts, 'part'>;
  readonly signal: AbortSignal;
  /** Ends the measurement early: with the texts that are scored, the first at least, and the cases that are tried. */
  readonly hurry?: AbortSignal;
  /** No speed and no host: nobody signs it, and both take long. */
  readonly isShort?: boolean;
  readonly onProgress: (words: string) => void;
  /** The texts are scored; whatever else is measured waits for it. */
  readonly onPredicted?: (predictions: Predictions) => Promise<void>;
}

const NUM_CTX = 2048;
const SLOTS = 4;
const WRITTEN_TOKENS = 48;
/** The best one counts: other programs only make it slower. */
const ROUNDS = 3;
/** Room behind a text that is read. */
const LEFT_TOKENS = 8;
const NEEDLE_S = 30;
/** A long text is read more slowly than a short one; beyond this it is given up. */
export const NEEDLE_WITHIN_MS = 120_000;
const LEAST_NEEDLE_TOKENS = 512;
const REASON_CHARACTERS = 1_000;
/** Of all recorded requests together. */
const OWN_TOKENS = 8_192;

const CONVERSATION: GenerateJob['prompt'] = {
  kind: 'chat',
  turns: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Where is Oslo?' },
    { role: 'assistant', content: 'In Norway.' },
    { role: 'user', content: 'And Bergen?' },
  ],
};

const NO_SPEEDS: Static<typeof Speeds> = { readPerS: 0, writtenPerS: 0 };
const NO_CASES: Cases = { all: 0, passed: 0, failed: [], left: 0 };

/** All but the long text, which recallFacts reads. */
export async function measureModel(options: MeasureOptions): Promise<Measurement> {
  const { casesWithinMs, own, onPredicted, hurry, isShort = false } = options;
  const { modelId: model } = options.target;
  const bench = new Bench(options);
  const step = steps(
    options,
    EVAL_TEXTS.length + (isShort ? 2 : 3) + (casesWithinMs === null ? 0 : 1) + own.requests.length,
  );
  try {
    const texts: ScoredText[] = [];
    for (const { name, text } of EVAL_TEXTS) {
      if (texts.length > 0 && hurry?.aborted === true) break;
      texts.push(await step(`text ${name}`, ScoredText, () => bench.scoredText(name, text)));
    }
    const rendered = await step('chat template', Type.String(), () => bench.rendered());
    await onPredicted?.({ model, texts, rendered });
    const speeds = isShort ? NO_SPEEDS : await step('speed', Speeds, () => bench.speeds(texts));
    const size = await step('memory', Size, () => bench.size(isShort));
    const cases =
      casesWithinMs === null || hurry?.aborted === true
        ? NO_CASES
        : await step('calls and JSON', Cases, () => bench.cases(casesWithinMs));
    // Their tokens are the user's own words, so they are never kept.
    const scoredOwn = await bench.scoredOwn((name) => step.tell(name));
    const notTried = [...untriedCases(cases, casesWithinMs), ...untriedRequests(own, scoredOwn)];
    return { model, texts, rendered, own: scoredOwn, cases, needle: null, notTried, ...speeds, ...size };
  } finally {
    await bench.close();
  }
}

const SECOND_MS = 1000;
export const LEFT_OUT = 'you left them out';

function untriedCases({ all, left }: Cases, withinMs: number | null): NotTried[] {
  const what = 'calls and JSON';
  if (withinMs === null) return [{ what, count: null, why: LEFT_OUT }];
  if (left === 0) return [];
  const why = `the ${withinMs / SECOND_MS} seconds for them were over`;
  return [{ what, count: left === all ? null : left, why }];
}

function untriedRequests({ left }: OwnRequests, scored: readonly ScoredText[]): NotTried[] {
  const count = left + scored.filter(({ tokens }) => tokens.length === 0).length;
  const most = `the newest ${scored.length} that the model can read, up to ${OWN_TOKENS} tokens together`;
  return count === 0 ? [] : [{ what: 'recorded requests', count, why: `only ${most}, count` }];
}

export const needleTokens = ({ readPerS }: Pick<Measurement, 'readPerS'>): number =>
  Math.max(LEAST_NEEDLE_TOKENS, Math.floor(readPerS * NEEDLE_S));

/** The facts that it recalls in a text of at most `tokens`; null: it did not read the text in time. */
export async function recallFacts(options: MeasureOptions, tokens: number): Promise<Needle | null> {
  const { target, parts, onProgress } = options;
  onProgress(`${target.modelId}: facts in a long text …`);
  const bench = new Bench(options);
  try {
    const shape = Type.Union([Needle, Type.Null()]);
    return await parts.part(`facts in ${tokens} tokens`, shape, () => bench.needle(tokens));
  } finally {
    await bench.close();
  }
}

type Step = {
  <T extends TSchema>(name: string, shape: T, make: () => Promise<Static<T>>): Promise<Static<T>>;
  tell(name: string): void;
};

function steps({ target, parts, signal, onProgress }: MeasureOptions, all: number): Step {
  let at = 0;
  const tell = (name: string): void => {
    at += 1;
    onProgress(`${target.modelId}: ${at} of ${all}, ${name} …`);
  };
  return Object.assign(
    async <T extends TSchema>(name: string, shape: T, make: () => Promise<Static<T>>): Promise<Static<T>> => {
      signal.throwIfAborted();
      tell(name);
      return parts.part(name, shape, make);
    },
    { tell },
  );
}

/** `texts`: exact where the model can be, so that equal weights have equal scores; `small`, `planned`: as it is served. */
type LoadKind = 'texts' | 'small' | 'planned';

/** Loads of one model, one at a time: parts that are kept load nothing. */
class Bench {
  readonly #options: MeasureOptions;
  readonly #backend: LocalBackend;
  readonly #numCtx: number;
  #now: { readonly kind: LoadKind; readonly loaded: LoadedModel } | null = null;
  #jobs = 0;

  constructor(options: MeasureOptions) {
    this.#options = options;
    this.#backend = startOwnWorker(options.worker);
    this.#numCtx = Math.min(NUM_CTX, options.target.trainedCtx);
  }

  close(): Promise<void> {
    return this.#backend.close();
  }

  async scoredText(name: string, text: string): Promise<ScoredText> {
    const loaded = await this.#texts();
    return this.#scored(loaded, name, await this.#tokensOf(loaded, text));
  }

  async rendered(): Promise<string> {
    const job = checkJob(this.#id(), { prompt: CONVERSATION });
    const asked = { kind: 'explain' as const, jobId: this.#id(), job };
    return (await this.#last(await this.#texts(), asked, 'explained')).renderedPrompt;
  }

  async speeds(texts: readonly ScoredText[]): Promise<Static<typeof Speeds>> {
    const loaded = await this.#small();
    const ids = texts.flatMap(({ tokens }) => tokens.map(({ id }) => id));
    const prompt = { kind: 'tokens' as const, tokens: ids.slice(0, this.#numCtx - LEFT_TOKENS) };
    const read = await this.#last(loaded, checkJob(this.#id(), { prompt, maxTokens: 1 }), 'done');
    const short = { ...prompt, tokens: prompt.tokens.slice(0, LEFT_TOKENS) };
    const job = { prompt: short, maxTokens: WRITTEN_TOKENS, ignoresEnd: true };
    const written: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const { usage, timings } = await this.#last(loaded, checkJob(this.#id(), job), 'done');
      written.push(perSecond(usage.completionTokens - 1, timings.decodeMs));
    }
    return {
      readPerS: perSecond(read.usage.promptTokens - read.usage.cachedTokens, read.timings.prefillMs),
      writtenPerS: Math.max(...written),
    };
  }

  async size(isShort: boolean): Promise<Static<typeof Size>> {
    const loaded = await this.#small();
    const { memory, measured = memory } = loaded.facts;
    const host = isShort ? { unknown: 'nobody signs it' } : await this.#host(loaded);
    return { memoryBytes: Math.round(totalBytes(measured)), host };
  }

  async #host(loaded: LoadedModel): Promise<Static<typeof Host>> {
    const prompt = { kind: 'text' as const, text: 'The sea is calm.' };
    const sampling = { temperature: 0, seed: 0 };
    const job = checkJob(this.#id(), { prompt, sampling, maxTokens: 1, templateClockMs: 0, lane: 'frozen' });
    try {
      const { frozen } = await this.#last(loaded, job, 'done');
      return frozen?.host ?? { unknown: 'the worker reported nothing of a frozen run' };
    } catch (error) {
      // Some settings have no place in a record.
      if (isFailure(error, 'evidence_unavailable')) return { unknown: error.detail.reason };
      throw error;
    }
  }

  async cases(withinMs: number): Promise<Cases> {
    const { target, signal, hurry, onProgress } = this.#options;
    const end = performance.now() + withinMs;
    const onCase = (tried: number, all: number): void =>
      onProgress(`${target.modelId}: calls and JSON, ${tried} of ${all} …`);
    const card = await checkLoaded(await this.#small(), {
      target,
      makerDefaults: {},
      signal,
      hurry,
      end,
      onCase,
    });
    const failed = card.cases.failed.map((each) => ({
      ...each,
      reason: each.reason.slice(0, REASON_CHARACTERS),
    }));
    return { ...card.cases, failed };
  }

  /** Each as far as a small window holds it; an empty one could not be read by this model. */
  async scoredOwn(onRequest: (name: string) => void): Promise<ScoredText[]> {
    const scored: ScoredText[] = [];
    let left = OWN_TOKENS;
    for (const [at, { job }] of this.#options.own.requests.entries()) {
      const name = `recorded request ${at + 1}`;
      onRequest(name);
      const tokens = await this.#ownTokens(job);
      const some = tokens.slice(0, Math.min(left, this.#numCtx - LEFT_TOKENS));
      left -= some.length;
      scored.push(
        some.length < 2
          ? { name, bytes: 0, tokens: [] }
          : await this.#scored(await this.#texts(), name, some),
      );
    }
    return scored;
  }

  /** The part of the planned window that is read within the limit; null: it was not read in time. */
  async needle(limit: number): Promise<Needle | null> {
    const loaded = await this.#planned();
    const { numCtx } = loaded.facts;
    const most = Math.min(limit, numCtx - LEFT_TOKENS);
    const tail = await this.#tokensOf(loaded, RECALL);
    const tokens = await this.#longText(loaded, most, tail.length);
    const job = checkJob(this.#id(), {
      prompt: { kind: 'tokens', tokens },
      maxTokens: 0,
      scoredPrompt: { top: 0, from: Math.max(0, tokens.length - tail.length - LEFT_TOKENS) },
    });
    const scored = await this.#withinTime(loaded, job);
    if (scored === null) return null;
    return { window: numCtx, tokens: tokens.length, facts: FACTS.length, missed: missedFacts(scored) };
  }

  async #withinTime(loaded: LoadedModel, job: GenerateJob): Promise<PromptToken[] | null> {
    const { signal, hurry } = this.#options;
    const isOver = AbortSignal.any([
      AbortSignal.timeout(NEEDLE_WITHIN_MS),
      ...(hurry === undefined ? [] : [hurry]),
    ]);
    try {
      return promptTokens(await this.#events(loaded, job, AbortSignal.any([signal, isOver])));
    } catch (error) {
      if (!isOver.aborted || signal.aborted) throw error;
      return null;
    }
  }

  async #longText(loaded: LoadedModel, most: number, tail: number): Promise<number[]> {
    const sample = await this.#tokensOf(loaded, FILLER.join(' '));
    let count = Math.floor(((most - 2 * tail) * FILLER.length) / sample.length);
    for (;;) {
      const tokens = await this.#tokensOf(loaded, hiddenIn(FILLER, Math.max(1, count)) + RECALL);
      if (tokens.length <= most || count <= 1) return tokens.slice(-most);
      count = Math.floor(count * 0.97) - 1;
    }
  }

  async #ownTokens(job: GenerateJob): Promise<readonly number[]> {
    const asked = { kind: 'explain', jobId: this.#id(), job, wantsTokens: true } as const;
    try {
      return [...((await this.#last(await this.#texts(), asked, 'explained')).tokens ?? [])];
    } catch (error) {
      this.#options.signal.throwIfAborted();
      // A template that refuses a conversation, or a conversation with images.
      if (isSvcError(error)) return [];
      throw error;
    }
  }

  async #scored(loaded: LoadedModel, name: string, tokens: readonly number[]): Promise<ScoredText> {
    const job = checkJob(this.#id(), {
      prompt: { kind: 'tokens', tokens: tokens.slice(0, this.#numCtx) },
      maxTokens: 0,
      scoredPrompt: { top: MOST_ALTERNATIVES, from: 0 },
    });
    return scoredText(name, await this.#events(loaded, job));
  }

  async #tokensOf(loaded: LoadedModel, text: string): Promise<number[]> {
    const asked = { text, addSpecial: true, parseSpecial: false, withPieces: false };
    const { tokens } = await this.#last(
      loaded,
      { kind: 'tokenize', jobId: this.#id(), ...asked },
      'tokenized',
    );
    return [...tokens];
  }

  #texts(): Promise<LoadedModel> {
    const numCtx = this.#numCtx;
    return this.#load('texts', async () => ({ numCtx, slots: 1, cells: numCtx }));
  }

  /** A load of one size for all models, so that their memory can be compared. */
  #small(): Promise<LoadedModel> {
    const numCtx = this.#numCtx;
    return this.#load('small', async () => ({ numCtx, slots: SLOTS, cells: SLOTS * numCtx }));
  }

  #planned(): Promise<LoadedModel> {
    const { target, slots } = this.#options;
    return this.#load('planned', async () => {
      const small = { numCtx: this.#numCtx, slots: 1, cells: this.#numCtx };
      const plan = await plannedLoad(this.#backend, target, slots);
      // One text at a time is read.
      return plan === null ? small : { numCtx: plan.numCtx, slots: 1, cells: plan.numCtx };
    });
  }

  async #load(kind: LoadKind, size: () => Promise<LoadSize>): Promise<LoadedModel> {
    if (this.#now?.kind === kind) return this.#now.loaded;
    await this.#now?.loaded.unload();
    this.#now = null;
    const { target, signal } = this.#options;
    const loaded = await this.#backend.load(
      kind === 'texts' ? exactWherePossible(target) : target,
      await size(),
      signal,
    );
    this.#now = { kind, loaded };
    return loaded;
  }

  #id(): string {
    this.#jobs += 1;
    return `eval-${this.#jobs}`;
  }

  #events(loaded: LoadedModel, job: Job, signal = this.#options.signal): Promise<JobEvent[]> {
    return collectEvents((listener) => loaded.run(job, signal, listener));
  }

  async #last<T extends JobEvent['type']>(
    loaded: LoadedModel,
    job: Job,
    type: T,
  ): Promise<Extract<JobEvent, { type: T }>> {
    return requireEvent(await this.#events(loaded, job), type);
  }
}

function exactWherePossible(target: LocalTarget): LocalTarget {
  const settings = { ...target.source.settings, exact: 'on' as const };
  return whyNotExact(settings) === null ? { ...target, source: { ...target.source, settings } } : target;
}

/** The tokens of a prompt that have a score: all but the first. */
export function scoredText(name: string, events: readonly JobEvent[]): ScoredText {
  const scored = promptTokens(events).filter(({ score }) => score !== null);
  return {
    name,
    bytes: scored.reduce((sum, { bytes }) => sum + bytes.length, 0),
    tokens: scored.flatMap(tokenScore),
  };
}

const promptTokens = (events: readonly JobEvent[]): PromptToken[] =>
  events.flatMap((event) => (event.type === 'prompt_tokens' ? event.tokens : []));

function tokenScore({ id, score }: PromptToken): TokenScore[] {
  if (score === null) return [];
  const top = score.top.flatMap((each): [number, number][] =>
    each.id === undefined ? [] : [[each.id, each.logprob]],
  );
  return [{ id, logprob: score.logprob, top }];
}

const perSecond = (tokens: number, ms: number): number => (ms > 0 ? (tokens * 1000) / ms : 0);
