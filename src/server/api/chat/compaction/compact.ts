import type { Compaction, JobEvent, Usage } from '../../../../contract/job-event.ts';
import type { GenerateJob, Turn } from '../../../../contract/job.ts';
import { collectEvents } from '../../../engine/collect.ts';
import type {
  ContextEdit,
  Engine,
  JobListener,
  Submission,
  Summarise,
  Trigger,
} from '../../../engine/ports.ts';
import { isFailure } from '../../../../lib/errors/svc-error.ts';
import { callsIn, countChars, clearResults, clearThinking, headEnd, tailStart } from './context-edits.ts';
import { type ChatJob, type SummaryBook, summaryJob, summaryTurn } from './summary.ts';

export interface Compacting {
  readonly submit: Engine['submit'];
  readonly submission: Omit<Submission, 'job'>;
  readonly signal: AbortSignal;
  readonly book: SummaryBook;
  readonly onWait: (event: Extract<JobEvent, { type: 'queued' }>) => void;
  readonly mayGenerate: boolean;
}

export interface Compacted {
  readonly job: GenerateJob;
  readonly compaction: Compaction | null;
  readonly before: number;
  readonly after: number;
}

interface Size {
  readonly tokens: number;
  readonly numCtx: number;
}

/** Estimate for engines that count no tokens. */
const TOKEN_CHARS = 4;
/** Share of the target size for the latest turns, which stay unchanged. */
const TAIL_SHARE = 0.3;
/** Share of the window that one summary covers. */
const AT_ONCE_SHARE = 0.6;
const MOST_SUMMARIES = 8;

export async function compact(
  asked: ChatJob,
  edits: readonly ContextEdit[],
  compacting: Compacting,
): Promise<Compacted> {
  const work = new Work(asked, compacting);
  await work.measure();
  const before = work.size.tokens;
  for (const edit of edits) await work.apply(edit);
  const { compaction, job } = work;
  const after = work.size.tokens;
  if (compaction === null) return { job: asked, compaction: null, before, after };
  return { job, compaction: { ...compaction, tokensBefore: before, tokensAfter: after }, before, after };
}

type Changes = Omit<Compaction, 'tokensBefore' | 'tokensAfter'>;

class Work {
  readonly #compacting: Compacting;
  readonly #isCounted: boolean;
  #job: ChatJob;
  /** The unedited turns; index i belongs to the edited turn i. */
  #origin: readonly Turn[];
  #changes: Changes = { edits: [] };
  size: Size = { tokens: 0, numCtx: 0 };

  constructor(job: ChatJob, compacting: Compacting) {
    this.#job = job;
    this.#origin = job.prompt.turns;
    this.#compacting = compacting;
    this.#isCounted = compacting.submission.target.capabilities.canExplain;
  }

  get job(): ChatJob {
    return this.#job;
  }

  get compaction(): Changes | null {
    if (this.#changes.edits.length === 0) return null;
    return this.#isCounted ? this.#changes : { ...this.#changes, isEstimated: true };
  }

  get #turns(): readonly Turn[] {
    return this.#job.prompt.turns;
  }

  async measure(): Promise<void> {
    this.size = await this.#measureJob(this.#job);
  }

  async apply(edit: ContextEdit): Promise<void> {
    switch (edit.kind) {
      case 'thinking':
        return this.#take('thinking', clearThinking(this.#turns, edit), 0);
      case 'results':
        if (!this.#isDue(edit.trigger)) return;
        return this.#take('results', clearResults(this.#turns, edit), edit.atLeastTokens);
      case 'summary':
        return this.#summarise(edit);
    }
  }

  async #take(
    kind: 'thinking' | 'results',
    { turns, count }: { readonly turns: readonly Turn[]; readonly count: number },
    atLeast: number,
  ): Promise<void> {
    if (count === 0) return;
    const job = withTurns(this.#job, turns);
    const size = await this.#measureJob(job);
    const tokens = this.size.tokens - size.tokens;
    if (tokens < atLeast) return;
    this.#accept(job, size);
    this.#changes = { ...this.#changes, edits: [...this.#changes.edits, { kind, count, tokens }] };
  }

  #accept(job: ChatJob, size: Size): void {
    this.#job = job;
    this.size = size;
  }

  #isDue({ of, value }: Trigger): boolean {
    if (of === 'calls') return callsIn(this.#turns) > value;
    return this.size.tokens > this.#triggerTokens({ of, value });
  }

  #triggerTokens({ of, value }: Trigger): number {
    if (of === 'tokens') return value;
    return this.size.numCtx > 0 ? value * this.size.numCtx : Infinity;
  }

  /** Uses existing summaries first and creates one only for the rest. */
  async #summarise({ trigger, ofAll = false, instructions }: Summarise): Promise<void> {
    const limit = this.#triggerTokens(trigger);
    const before = this.size.tokens;
    let count = 0;
    for (let round = 0; round < MOST_SUMMARIES && this.size.tokens > limit; round += 1) {
      const done = await this.#summariseOnce(limit, ofAll, instructions);
      if (done === 0) break;
      count += done;
      if (ofAll && this.#turns.length <= headEnd(this.#turns) + 2) break;
    }
    if (count === 0) return;
    const edit = { kind: 'summary' as const, count, tokens: before - this.size.tokens };
    const turns = this.#turns.filter(({ role }) => role !== 'system');
    this.#changes = { ...this.#changes, edits: [...this.#changes.edits, edit], turns };
  }

  async #summariseOnce(limit: number, ofAll: boolean, instructions?: string): Promise<number> {
    const { book, submission, mayGenerate } = this.#compacting;
    const owner = `${submission.target.modelId} ${this.#job.domain ?? ''} ${instructions ?? ''}`;
    const known = ofAll ? undefined : book.find(owner, this.#origin);
    const head = headEnd(this.#turns);
    const end = known?.end ?? this.#summaryEnd(limit, ofAll);
    const least = head + (ofAll ? 1 : 2);
    if (end < least || (known === undefined && !mayGenerate)) return 0;
    const summary = known?.summary ?? (await this.#writeSummary(this.#turns.slice(0, end), instructions));
    if (summary === '') return 0;
    if (known === undefined) book.keep(owner, this.#origin.slice(0, end), summary);
    const last = ofAll ? lastWords(this.#turns.slice(head, end)) : [];
    const replaced = (turns: readonly Turn[]): Turn[] => [
      ...turns.slice(0, head),
      summaryTurn(summary),
      ...last,
      ...turns.slice(end),
    ];
    this.#origin = replaced(this.#origin);
    const job = withTurns(this.#job, replaced(this.#turns));
    this.#accept(job, await this.#measureJob(job));
    return end - head;
  }

  #summaryEnd(limit: number, ofAll: boolean): number {
    const turns = this.#turns;
    const perToken = countChars(turns) / Math.max(1, this.size.tokens);
    const tail = ofAll ? turns.length : tailStart(turns, limit * TAIL_SHARE * perToken);
    const most = this.size.numCtx > 0 ? this.size.numCtx * AT_ONCE_SHARE * perToken : Infinity;
    const ends = [...turns.keys(), turns.length].filter((at) => turns[at]?.role !== 'tool' && at <= tail);
    const fitting = ends.filter((at) => countChars(turns.slice(0, at)) <= most);
    return fitting.at(-1) ?? 0;
  }

  async #writeSummary(turns: readonly Turn[], instructions: string | undefined): Promise<string> {
    const { numCtx } = this.size;
    this.#compacting.onWait({ type: 'queued', position: 1, reason: 'summarising the conversation' });
    for (const tools of this.#job.tools.length > 0 ? [true, false] : [false]) {
      const events = await this.#run(summaryJob(this.#job, turns, { numCtx, tools, instructions }));
      for (const event of events) if (event.type === 'done') this.#took(event.usage);
      const summary = events
        .map((event) => (event.type === 'text' ? event.text : ''))
        .join('')
        .trim();
      if (summary !== '') return summary;
    }
    return '';
  }

  #took(usage: Usage): void {
    const before = this.#changes.summaryUsage;
    this.#changes = {
      ...this.#changes,
      summaryUsage: before === undefined ? usage : addUsage(before, usage),
    };
  }

  async #measureJob(job: ChatJob): Promise<Size> {
    const estimate = { tokens: Math.ceil(countChars(job.prompt.turns) / TOKEN_CHARS), numCtx: 0 };
    if (!this.#isCounted) return estimate;
    try {
      const events = await this.#run({ kind: 'explain', jobId: `${job.jobId}.size`, job });
      const explained = events.find((event) => event.type === 'explained');
      return explained === undefined
        ? estimate
        : { tokens: explained.promptTokens, numCtx: explained.numCtx };
    } catch (error) {
      if (!isFailure(error, 'context_length_exceeded')) throw error;
      return { tokens: error.detail.promptTokens, numCtx: error.detail.numCtx };
    }
  }

  #run(job: Submission['job']): Promise<JobEvent[]> {
    const { submit, submission, signal, onWait } = this.#compacting;
    return collectEvents((listener) => submit({ ...submission, job }, signal, hearing(listener, onWait)));
  }
}

function addUsage(first: Usage, second: Usage): Usage {
  return {
    promptTokens: first.promptTokens + second.promptTokens,
    cachedTokens: first.cachedTokens + second.cachedTokens,
    completionTokens: first.completionTokens + second.completionTokens,
    reasoningTokens: first.reasoningTokens + second.reasoningTokens,
  };
}

function lastWords(turns: readonly Turn[]): Turn[] {
  const last = turns.findLast(({ role }) => role === 'user');
  return last === undefined ? [] : [last];
}

function hearing(listener: JobListener, onWait: Compacting['onWait']): JobListener {
  return {
    onEvent: (event) => (event.type === 'queued' ? onWait(event) : listener.onEvent(event)),
    onEnd: (failure) => listener.onEnd(failure),
  };
}

function withTurns(job: ChatJob, turns: readonly Turn[]): ChatJob {
  return { ...job, prompt: { ...job.prompt, turns: [...turns] } };
}
