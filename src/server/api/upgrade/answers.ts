import type { JobEvent } from '../../../contract/job-event.ts';
import type { GenerateJob, Job, Prompt, Turn } from '../../../contract/job.ts';
import { MOST_ALTERNATIVES } from '../../../contract/limits.ts';
import { collectEvents, requireEvent } from '../../engine/collect.ts';
import type { LoadedModel } from '../../engine/ports.ts';
import type { LocalTarget } from '../../engine/local/model-source.ts';
import { isFailure, isSvcError, errorMessage } from '../../../lib/errors/svc-error.ts';
import { type Answer, answerCalls, collect, answerText } from '../chat/collected.ts';
import { CASE_TOKENS, checkJob } from '../check/check-job.ts';
import { type ScoredText, scoredText } from '../eval/measure.ts';
import { startOwnWorker, type WorkerSettings } from '../own-worker.ts';
import type { RecordedRequest } from './recorded.ts';

export interface Bench {
  readonly name: string;
  readonly worker: WorkerSettings;
  readonly target: LocalTarget;
}

export type Reply = { readonly turn: Turn } | { readonly fault: string };

export interface Replayed {
  /** Null: this side cannot run the request at all, for example because it does not fit the window. */
  readonly replies: readonly (Reply | null)[];
  readonly texts: readonly ScoredText[];
}

export interface ReplayOptions {
  readonly requests: readonly RecordedRequest[];
  readonly replies?: readonly (Reply | null)[];
  readonly signal: AbortSignal;
  /** Requests after it are left out. */
  readonly hurry?: AbortSignal | undefined;
  readonly onProgress: (words: string) => void;
}

/** Chosen: long conversations fit, and a small machine still has the memory. */
const MOST_CTX = 8192;
/** Last tokens of a conversation, which contain the reply. */
const SCORED_TOKENS = 512;
const LEFT_TOKENS = 8;

export async function replayOn({ worker, target, name }: Bench, options: ReplayOptions): Promise<Replayed> {
  const { requests, signal, hurry, onProgress } = options;
  const backend = startOwnWorker(worker);
  try {
    const numCtx = Math.min(MOST_CTX, target.defaultCtx ?? MOST_CTX, target.trainedCtx);
    const loaded = await backend.load(target, { numCtx, slots: 1, cells: numCtx }, signal);
    const replies: (Reply | null)[] = [];
    const texts: ScoredText[] = [];
    for (const [at, request] of requests.entries()) {
      const isOver = hurry?.aborted === true;
      if (!isOver) onProgress(`${name}: recorded request ${at + 1} of ${requests.length} …`);
      const reply = isOver ? null : await replyTo(loaded, request, signal);
      replies.push(reply);
      const compared = options.replies === undefined ? reply : (options.replies[at] ?? null);
      const isCompared = reply !== null && compared !== null;
      texts.push(
        isCompared
          ? await scored(loaded, { request, reply: compared, numCtx, signal })
          : { name: request.name, bytes: 0, tokens: [] },
      );
    }
    return { replies, texts };
  } finally {
    await backend.close();
  }
}

async function replyTo(
  loaded: LoadedModel,
  { name, content }: RecordedRequest,
  signal: AbortSignal,
): Promise<Reply | null> {
  const { scoredPrompt: _, ...asked } = content;
  const job = checkJob(name, { ...asked, topLogprobs: null, maxTokens: CASE_TOKENS });
  try {
    const events = await run(loaded, job, signal);
    const { answers } = await collect(
      [job],
      events.map((event) => ({ index: 0, event })),
    );
    return { turn: toTurn(answers[0]) };
  } catch (error) {
    signal.throwIfAborted();
    if (isFailure(error, 'context_length_exceeded')) return null;
    // A crashed worker is not an invalid answer.
    if (!isSvcError(error) || isFailure(error, 'worker_crashed', 'worker_hung')) throw error;
    return { fault: errorMessage(error) };
  }
}

function toTurn(answer: Answer): Turn {
  const reasoning = answerText(answer, 'reasoning');
  const calls = answerCalls(answer);
  const toolCalls = calls.map(({ id, name, pieces }) => ({ id, name, argumentsJson: pieces.join('') }));
  return {
    role: 'assistant',
    content: answerText(answer, 'text'),
    ...(reasoning === '' ? {} : { reasoning }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
  };
}

interface Scored {
  readonly request: RecordedRequest;
  readonly reply: Reply;
  readonly numCtx: number;
  readonly signal: AbortSignal;
}

async function scored(loaded: LoadedModel, { request, reply, numCtx, signal }: Scored): Promise<ScoredText> {
  const { name, content } = request;
  const whole = checkJob(`${name} whole`, {
    prompt: 'turn' in reply ? continued(content.prompt, reply.turn) : content.prompt,
    tools: content.tools,
    toolChoice: content.toolChoice,
    reasoning: content.reasoning,
  });
  const asked = { kind: 'explain' as const, jobId: whole.jobId, job: whole, wantsTokens: true as const };
  const { tokens = [] } = requireEvent(await run(loaded, asked, signal), 'explained');
  const prompt = { kind: 'tokens' as const, tokens: [...tokens].slice(0, numCtx - LEFT_TOKENS) };
  const from = Math.max(0, prompt.tokens.length - SCORED_TOKENS);
  const events = await run(
    loaded,
    checkJob(`${name} scored`, { prompt, maxTokens: 0, scoredPrompt: { top: MOST_ALTERNATIVES, from } }),
    signal,
  );
  return scoredText(name, events);
}

function continued(prompt: Prompt, turn: Turn): GenerateJob['prompt'] {
  if (prompt.kind === 'chat') return { kind: 'chat', turns: [...prompt.turns, turn], opens: false };
  return prompt.kind === 'text' ? { ...prompt, text: prompt.text + turn.content } : prompt;
}

const run = (loaded: LoadedModel, job: Job, signal: AbortSignal): Promise<JobEvent[]> =>
  collectEvents((listener) => loaded.run(job, signal, listener));
