import type { ErrorBody } from '../../src/wire/error.ts';
import { HEADERS } from '../../src/wire/headers.ts';
import type { ChatChunk, ChatRequest } from '../../src/wire/inference/chat.ts';
import type { Timings, Usage } from '../../src/wire/inference/generation.ts';
import type { ToolCall } from '../../src/wire/inference/tool-envelope.ts';
import { ask, connectionLost, Refusal } from './client.ts';
import { framesOf } from './frames.ts';

type FinishReason = NonNullable<ChatChunk['choices'][number]['svc_finish_reason']>;

export type Waiting =
  | { readonly for: 'answer' }
  | { readonly for: 'turn'; readonly position: number; readonly reason: string }
  | { readonly for: 'prompt'; readonly done: number; readonly all: number; readonly leftMs: number | null };

export interface AnswerSoFar {
  text: string;
  reasoning: string;
  calls: ToolCall[];
  /** From the request to the first text, reasoning or call; null before. */
  firstMs: number | null;
  finish: FinishReason | null;
  usage: Usage | null;
  timings: Timings | null;
  /** In tokens; null: not reported. */
  window: number | null;
  /** Chunks so far, each with one or more tokens, and the time of the last one. */
  pieces: number;
  lastMs: number;
  remarks: string[];
  model: string | null;
  waiting: Waiting;
}

export const noAnswer = (): AnswerSoFar => ({
  text: '',
  reasoning: '',
  calls: [],
  firstMs: null,
  finish: null,
  usage: null,
  timings: null,
  window: null,
  pieces: 0,
  lastMs: 0,
  remarks: [],
  model: null,
  waiting: { for: 'answer' },
});

/** Calls back after every chunk. Throws a Refusal before the stream or in it. */
export async function streamAnswer(
  request: ChatRequest,
  { signal, onChange }: { readonly signal: AbortSignal; readonly onChange: (answer: AnswerSoFar) => void },
): Promise<AnswerSoFar> {
  const begun = performance.now();
  const answer = noAnswer();
  const body = {
    ...request,
    stream: true,
    stream_options: { include_usage: true },
    return_progress: true,
  };
  const response = await ask('/v1/chat/completions', { body, signal });
  answer.remarks = remarksOf(response.headers);
  answer.window = Number(response.headers.get(HEADERS.numCtx) ?? 0) || null;
  let isDone = false;
  try {
    const onComment = (comment: string): void => {
      const waiting = waitingOf(comment);
      if (waiting === null) return;
      answer.waiting = waiting;
      onChange(answer);
    };
    for await (const { data } of framesOf(response, onComment)) {
      if (data === '[DONE]') {
        isDone = true;
        break;
      }
      const chunk = JSON.parse(data) as ChatChunk | ErrorBody;
      if ('error' in chunk) throw new Refusal(200, chunk, response.headers.get(HEADERS.requestId));
      if (addChunk(answer, chunk)) {
        answer.lastMs = performance.now() - begun;
        answer.firstMs ??= answer.lastMs;
        answer.pieces += 1;
      }
      onChange(answer);
    }
  } catch (error) {
    signal.throwIfAborted();
    // A fetch that breaks in its body throws a TypeError with the browser's message.
    throw error instanceof TypeError ? connectionLost(error, answer.pieces > 0) : error;
  }
  // An aborted body may also just end.
  signal.throwIfAborted();
  if (!isDone) throw connectionLost(null, answer.pieces > 0);
  return answer;
}

export function addChunk(answer: AnswerSoFar, chunk: ChatChunk): boolean {
  if (chunk.usage) answer.usage = chunk.usage;
  if (chunk.timings) answer.timings = chunk.timings;
  if (chunk.model !== '') answer.model = chunk.model;
  if (chunk.prompt_progress) answer.waiting = readingOf(chunk.prompt_progress);
  const [choice] = chunk.choices;
  if (choice === undefined) return false;
  const { content = '', reasoning_content: reasoning = '', tool_calls: calls = [] } = choice.delta;
  answer.text += content;
  answer.reasoning += reasoning;
  for (const { index, id, function: piece } of calls) {
    const call = (answer.calls[index] ??= {
      id: '',
      type: 'function',
      function: { name: '', arguments: '' },
    });
    call.id += id ?? '';
    call.function.name += piece.name ?? '';
    call.function.arguments += piece.arguments;
  }
  answer.finish = choice.svc_finish_reason ?? choice.finish_reason ?? answer.finish;
  return content !== '' || reasoning !== '' || calls.length > 0;
}

/** Parses comments of the service, such as `queued 1: loading model hearth-mini`. */
function waitingOf(comment: string): Waiting | null {
  const [, position, reason] = /^\s*queued (\d+): (.*)$/s.exec(comment) ?? [];
  return position === undefined || reason === undefined
    ? null
    : { for: 'turn', position: Number(position), reason: reason.trim() };
}

type Progress = NonNullable<ChatChunk['prompt_progress']>;

/** Cached tokens took no time, so they are left out of the estimate. */
function readingOf({ total, cache, processed, time_ms: ms }: Progress): Waiting {
  const evaluated = processed - cache;
  const leftMs = evaluated > 0 ? (ms * (total - processed)) / evaluated : null;
  return { for: 'prompt', done: processed, all: total, leftMs };
}

function remarksOf(headers: Headers): string[] {
  const said = (name: string, sentence: (value: string) => string): string[] => {
    const value = headers.get(name);
    return value === null ? [] : [sentence(value)];
  };
  return [
    ...said(HEADERS.ignoredParams, (names) => `Ignored by this model: ${names}.`),
    ...said(HEADERS.relaxed, (names) => `Not enforced while answering, only checked afterwards: ${names}.`),
    ...said(HEADERS.substitutedModel, (model) => `Answered by ${model}.`),
    ...said(
      HEADERS.chatTemplate,
      () => 'This model has no chat template, so its answers may make little sense.',
    ),
  ];
}
