/** What one model does with the texts of the set, in a worker of its own. */
import type { JobEvent, PromptToken } from '../../contract/job-event.ts';
import type { GenerateJob, Job } from '../../contract/job.ts';
import { MOST_ALTERNATIVES } from '../../contract/limits.ts';
import { collectEvents, eventOf } from '../../engine/collect.ts';
import { totalBytes } from '../../engine/device-memory.ts';
import type { LoadedModel, ModelTarget } from '../../engine/ports.ts';
import { checkJob } from '../check/check-job.ts';
import { checkLoaded, type ScoreCard } from '../check/check-model.ts';
import { startOwnWorker, type WorkerSettings } from '../own-worker.ts';
import { EVAL_TEXTS, type EvalText } from './texts.ts';

export interface ScoredText {
  readonly name: string;
  readonly bytes: number;
  readonly tokens: readonly PromptToken[];
}

export interface Measurement {
  readonly model: string;
  readonly texts: readonly ScoredText[];
  /** A conversation as the model's template puts it. */
  readonly rendered: string;
  readonly cases: ScoreCard['cases'];
  readonly readPerS: number;
  readonly writtenPerS: number;
  readonly memoryBytes: number;
}

export interface MeasureOptions {
  readonly worker: WorkerSettings;
  readonly target: ModelTarget;
  /** Cases of calls and JSON that do not end within this time are left out; null: none is tried. */
  readonly casesWithinMs: number | null;
  readonly signal: AbortSignal;
  readonly onProgress: (words: string) => void;
}

const NUM_CTX = 2048;
const SLOTS = 4;
const WRITTEN_TOKENS = 48;
/** The best one counts: other programs only make it slower. */
const ROUNDS = 3;
/** Room behind a text that is read. */
const LEFT_TOKENS = 8;

const CONVERSATION: GenerateJob['prompt'] = {
  kind: 'chat',
  turns: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Where is Oslo?' },
    { role: 'assistant', content: 'In Norway.' },
    { role: 'user', content: 'And Bergen?' },
  ],
};

export async function measureModel(options: MeasureOptions): Promise<Measurement> {
  const { target, worker, signal, onProgress } = options;
  const backend = startOwnWorker(worker);
  try {
    const numCtx = Math.min(NUM_CTX, target.trainedCtx);
    const loaded = await backend.load(target, { numCtx, slots: SLOTS, cells: SLOTS * numCtx }, signal);
    const run = new Run(loaded, signal);
    const texts: ScoredText[] = [];
    for (const [at, text] of EVAL_TEXTS.entries()) {
      onProgress(`${target.modelId}: text ${at + 1} of ${EVAL_TEXTS.length} (${text.name}) …`);
      texts.push(await run.score(text, numCtx));
    }
    const { facts } = loaded;
    return {
      model: target.modelId,
      texts,
      rendered: await run.rendered(),
      cases: await casesOf(loaded, options),
      ...(await run.speeds(
        texts.flatMap(({ tokens }) => tokens.map(({ id }) => id)).slice(0, numCtx - LEFT_TOKENS),
      )),
      memoryBytes: totalBytes(facts.measured ?? facts.memory),
    };
  } finally {
    await backend.close();
  }
}

const NO_CASES: Measurement['cases'] = { all: 0, passed: 0, failed: [], left: 0 };

async function casesOf(
  loaded: LoadedModel,
  { target, casesWithinMs, signal, onProgress }: MeasureOptions,
): Promise<Measurement['cases']> {
  if (casesWithinMs === null) return NO_CASES;
  const end = performance.now() + casesWithinMs;
  const onCase = (tried: number, all: number): void =>
    onProgress(`${target.modelId}: calls and JSON, ${tried} of ${all} …`);
  return (await checkLoaded(loaded, { target, makerDefaults: {}, signal, end, onCase })).cases;
}

/** Jobs of one loaded model. */
class Run {
  readonly #loaded: LoadedModel;
  readonly #signal: AbortSignal;
  #jobs = 0;

  constructor(loaded: LoadedModel, signal: AbortSignal) {
    this.#loaded = loaded;
    this.#signal = signal;
  }

  async score({ name, text }: EvalText, numCtx: number): Promise<ScoredText> {
    const asked = { text, addSpecial: true, parseSpecial: false, withPieces: false };
    const { tokens } = await this.#last({ kind: 'tokenize', jobId: this.#id(), ...asked }, 'tokenized');
    const events = await this.#events(
      checkJob(this.#id(), {
        prompt: { kind: 'tokens', tokens: [...tokens].slice(0, numCtx) },
        maxTokens: 0,
        scoredPrompt: { top: MOST_ALTERNATIVES, from: 0 },
      }),
    );
    const scored = events.flatMap((event) => (event.type === 'prompt_tokens' ? event.tokens : []));
    const bytes = scored.reduce((sum, token) => sum + (token.score === null ? 0 : token.bytes.length), 0);
    return { name, bytes, tokens: scored };
  }

  async rendered(): Promise<string> {
    const job = checkJob(this.#id(), { prompt: CONVERSATION });
    return (await this.#last({ kind: 'explain', jobId: this.#id(), job }, 'explained')).renderedPrompt;
  }

  /** Tokens per second, alone. */
  async speeds(tokens: readonly number[]): Promise<Pick<Measurement, 'readPerS' | 'writtenPerS'>> {
    const prompt = { kind: 'tokens' as const, tokens: [...tokens] };
    const read = await this.#last(checkJob(this.#id(), { prompt, maxTokens: 1 }), 'done');
    const short = { ...prompt, tokens: prompt.tokens.slice(0, LEFT_TOKENS) };
    const job = { prompt: short, maxTokens: WRITTEN_TOKENS, ignoresEnd: true };
    const written: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const { usage, timings } = await this.#last(checkJob(this.#id(), job), 'done');
      written.push(perSecond(usage.completionTokens - 1, timings.decodeMs));
    }
    return {
      readPerS: perSecond(read.usage.promptTokens - read.usage.cachedTokens, read.timings.prefillMs),
      writtenPerS: Math.max(...written),
    };
  }

  #id(): string {
    this.#jobs += 1;
    return `eval-${this.#jobs}`;
  }

  #events(job: Job): Promise<JobEvent[]> {
    return collectEvents((listener) => this.#loaded.run(job, this.#signal, listener));
  }

  async #last<T extends JobEvent['type']>(job: Job, type: T): Promise<Extract<JobEvent, { type: T }>> {
    return eventOf(await this.#events(job), type);
  }
}

const perSecond = (tokens: number, ms: number): number => (ms > 0 ? (tokens * 1000) / ms : 0);
