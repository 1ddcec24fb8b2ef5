import type { ErrorCode } from '../../lib/errors/catalogue.ts';
import type { ChatChunk, ChatResponse } from '../../wire/inference/chat.ts';
import {
  askAgain,
  type Conversation,
  type Effect,
  type Failure,
  type OpenAnswer,
  chatRequest,
  type SignedAnswer,
  type Step,
  type Turn,
  unchanged,
} from './state.ts';

const INTERRUPTED = 130;
const OVERFLOW: ErrorCode = 'context_length_exceeded';

export function ask(state: Conversation, question: string): Step {
  const body = chatRequest(state, question);
  const { isSigned } = state;
  const streamed = { ...body, stream: true, stream_options: { include_usage: true } };
  const status = isSigned
    ? 'computing a signed answer, which is shown when it is complete'
    : 'waiting for the model';
  return {
    state: {
      ...state,
      phase: 'answering',
      signed: null,
      answer: { question, text: '', isStopped: false, last: {} },
    },
    effects: [
      { do: 'showStatus', text: status },
      { do: 'send', body: isSigned ? body : streamed, isSigned },
    ],
  };
}

export function addChunk(state: Conversation, chunk: ChatChunk): Step {
  const { answer } = state;
  if (answer === null || answer.isStopped) return unchanged(state);
  const [choice] = chunk.choices;
  const text = choice?.delta.content ?? '';
  const reasoning = choice?.delta.reasoning_content ?? '';
  const last: OpenAnswer['last'] = {
    ...answer.last,
    ...(chunk.usage === undefined ? {} : { usage: chunk.usage }),
    ...(chunk.timings === undefined ? {} : { timings: chunk.timings }),
    ...(choice?.svc_finish_reason === undefined ? {} : { cut: readCut(choice.svc_finish_reason) }),
  };
  const effects: Effect[] = [];
  if (choice?.delta.role !== undefined) effects.push({ do: 'showStatus', text: 'evaluating the prompt' });
  if (reasoning !== '') effects.push({ do: 'showReasoning', text: reasoning });
  if (text !== '') effects.push({ do: 'showAnswer', text });
  return { state: { ...state, answer: { ...answer, text: answer.text + text, last } }, effects };
}

export function addSigned(state: Conversation, signed: SignedAnswer, body: ChatResponse): Step {
  const { answer } = state;
  const [choice] = body.choices;
  if (answer === null || choice === undefined) return unchanged(state);
  const { content, reasoning_content: reasoning = '' } = choice.message;
  const { usage, timings } = body;
  const last = {
    usage,
    ...(timings === undefined ? {} : { timings }),
    cut: readCut(choice.svc_finish_reason),
  };
  const effects: Effect[] = reasoning === '' ? [] : [{ do: 'showReasoning', text: reasoning }];
  return {
    state: { ...state, signed, answer: { ...answer, text: content, last } },
    effects: [...effects, { do: 'showAnswer', text: content }],
  };
}

const EMPTY_ANSWER =
  'The model ended its answer before it began. A base model continues text and does not answer: ask it at /v1/completions.';

export function finishAnswer(state: Conversation): Step {
  const { answer } = state;
  if (answer === null) return unchanged(state);
  const notes = [
    ...(answer.last.cut !== undefined
      ? [cutSentence(state, answer)]
      : answer.text === ''
        ? [EMPTY_ANSWER]
        : []),
    ...(state.isVerbose ? [speedLine(answer)] : []),
    ...(state.signed === null ? [] : ['Signed; /evidence shows the record.']),
  ];
  return close(keep(state, answer), notes, 0);
}

export function failAnswer(state: Conversation, failure: Failure): Step {
  const { answer } = state;
  if (answer === null) return unchanged(state);
  if (failure.wasStopped) {
    if (state.isSingle) return close(state, [], INTERRUPTED);
    return answer.text === ''
      ? close(state, ['Stopped before the answer began; the question is not kept.'], INTERRUPTED)
      : close(keep(state, answer), ['Stopped; what was said so far is kept.'], INTERRUPTED);
  }
  if (state.isSingle) return close(state, [], failure.exitCode, failure.sentence);
  return close(state, [failure.sentence, describeRemedy(failure, answer)], failure.exitCode);
}

function describeRemedy({ code }: Failure, { text }: OpenAnswer): string {
  if (code === OVERFLOW)
    return 'Nothing was dropped, and this message was not added. /clear begins anew; /set num_ctx=N asks for a larger window.';
  const partly =
    text === '' ? 'This message was not added' : 'Neither this message nor the partial answer was added';
  return `${partly} to the conversation; the up arrow brings it back.`;
}

function keep(state: Conversation, { question, text }: OpenAnswer): Conversation {
  const added: Turn[] = [
    { role: 'user', content: question },
    { role: 'assistant', content: text },
  ];
  return { ...state, turns: [...state.turns, ...added] };
}

function close(
  state: Conversation,
  notes: readonly string[],
  exitCode: number,
  sentence: string | null = null,
): Step {
  const closing: Effect[] = [{ do: 'closeAnswer' }];
  const closed: Conversation = { ...state, answer: null };
  if (!state.isSingle) {
    const next = askAgain(closed, ...notes);
    return { ...next, effects: [...closing, ...next.effects] };
  }
  const said: Effect[] = notes.map((text) => ({ do: 'say', text }));
  return {
    state: { ...closed, phase: 'over' },
    effects: [...closing, ...said, { do: 'leave', exitCode, sentence }],
  };
}

const TOKEN_LIMITS = ['max_tokens', 'max_completion_tokens', 'num_predict', 'n_predict'];

/** Blames a limit of the model if neither the request nor the known window explains the cut. */
function cutSentence({ model, options }: Conversation, { last: { usage, cut: cause } }: OpenAnswer): string {
  if (cause === 'repetition')
    return `The answer repeated itself and was ended${usage === undefined ? '' : ` after ${usage.completion_tokens} tokens`}; to let it go on: hearth set ${model.id} repetition_guard=0, or /set repetition_guard=0.`;
  if (usage === undefined) return 'The answer was cut: a limit of the model, or its context window is full.';
  const { prompt_tokens: before, completion_tokens: count } = usage;
  const cut = `The answer was cut after ${count} tokens`;
  const limit = TOKEN_LIMITS.find((name) => typeof options[name] === 'number' && options[name] <= count);
  if (limit !== undefined) return `${cut} (${limit}).`;
  // The last token of an answer is not evaluated, so it needs no cell.
  if (model.window !== undefined && before + count >= model.window.tokens - 1)
    return `${cut}: its context window of ${model.window.tokens} tokens is full.`;
  if (model.window?.isLoaded !== true) return `${cut}: a limit of the model, or its context window is full.`;
  return `${cut}, the limit of ${model.id}; another one: hearth set ${model.id} max_tokens=N, or /set max_tokens=N.`;
}

function speedLine({ last: { usage, timings } }: OpenAnswer): string {
  if (usage === undefined) return 'The service named no token counts.';
  const cached = usage.prompt_tokens_details?.cached_tokens ?? 0;
  const prompt = `${usage.prompt_tokens} prompt tokens${cached > 0 ? ` (${cached} cached)` : ''}`;
  const rate = (perSecond: number | undefined): string =>
    perSecond === undefined || perSecond <= 0 ? '' : ` at ${perSecond.toFixed(1)} tokens/s`;
  return `${prompt}${rate(timings?.prompt_per_second)}, ${usage.completion_tokens} generated${rate(timings?.predicted_per_second)}`;
}

const readCut = (reason: string | undefined): OpenAnswer['last']['cut'] =>
  reason === 'length' || reason === 'repetition' ? reason : undefined;
