/** A whole chat answer from the events of its jobs. The service answers with it; a replay compares it with what was signed. */
import type { Engine } from '../../engine/ports.ts';
import type { GenerateJob } from '../../contract/job.ts';
import type { DoneEvent, SampledToken } from '../../contract/job-event.ts';
import type { ChatResponse } from '../../wire/inference/chat.ts';
import type { ToolCall } from '../../wire/inference/tool-envelope.ts';
import { ChoiceGuard, type DeliveredEvent } from './choice-guard.ts';
import { answerHead, type HeadPorts } from '../generation/answer-head.ts';
import { type ChoiceEvent, type Choices, runChoices } from '../generation/choices.ts';
import { wireLogprobs, wireTimings, wireUsage } from '../generation/usage.ts';

export interface ChatAnswer {
  readonly body: ChatResponse;
  readonly numCtx: number;
  /** How each choice ended. */
  readonly done: readonly [DoneEvent, ...DoneEvent[]];
}

export interface WholeAnswerPorts extends HeadPorts {
  readonly engine: Pick<Engine, 'submit'>;
  /** A fresh id for an answer that was made in this second. */
  readonly answerId: (unixSeconds: number) => string;
}

export async function completeChat(
  ports: WholeAnswerPorts,
  choices: Choices,
  signal: AbortSignal,
): Promise<ChatAnswer> {
  const answer = await collectAnswer(choices.jobs, runChoices(ports.engine, choices, signal));
  const head = await answerHead(ports, choices.model, {
    object: 'chat.completion' as const,
    idOf: ports.answerId,
  });
  const [first] = answer.done;
  return {
    numCtx: answer.numCtx,
    done: answer.done,
    body: {
      ...head,
      choices: answer.choices,
      usage: answer.usage,
      timings: wireTimings(first.usage, first.timings),
    },
  };
}

export interface WholeAnswer {
  readonly choices: ChatResponse['choices'];
  readonly usage: ChatResponse['usage'];
  readonly numCtx: number;
  readonly done: ChatAnswer['done'];
}

/** What one choice has said so far. */
interface Draft {
  text: string;
  reasoning: string;
  call: ToolCall | null;
  tokens: SampledToken[];
  done: DoneEvent | null;
}

/** Throws when an answer is not what its job asked for. */
export async function collectAnswer(
  jobs: readonly GenerateJob[],
  events: AsyncIterable<ChoiceEvent> | Iterable<ChoiceEvent>,
): Promise<WholeAnswer> {
  const drafts = jobs.map((): Draft => ({ text: '', reasoning: '', call: null, tokens: [], done: null }));
  const guards = jobs.map((job) => new ChoiceGuard(job));
  let numCtx = 0;
  for await (const { index, event } of events) {
    if (event.type === 'started') numCtx = event.numCtx;
    const draft = drafts[index];
    if (draft) for (const passed of guards[index]?.pass(event) ?? []) take(draft, passed);
  }
  const [first, ...others] = drafts.map(({ done }) => {
    if (!done) throw new Error('an answer ended without a done event');
    return done;
  });
  if (first === undefined) throw new Error('a request asked for no answer');
  const done = [first, ...others] as const;
  return {
    numCtx,
    done,
    choices: drafts.map((draft, index) => wireChoice(draft, done[index] ?? first, index)),
    usage: wireUsage(done.map((event) => event.usage)),
  };
}

function take(draft: Draft, event: DeliveredEvent): void {
  if (event.type === 'text') {
    draft.text += event.text;
    draft.tokens.push(...(event.tokens ?? []));
  }
  if (event.type === 'reasoning') draft.reasoning += event.text;
  if (event.type === 'call') {
    const { id, name, pieces } = event;
    draft.call = { id, type: 'function', function: { name, arguments: pieces.join('') } };
  }
  if (event.type === 'done') draft.done = event;
}

function wireChoice(draft: Draft, { finishReason }: DoneEvent, index: number) {
  return {
    index,
    message: {
      role: 'assistant' as const,
      content: draft.text,
      ...(draft.reasoning === '' ? {} : { reasoning_content: draft.reasoning }),
      ...(draft.call === null ? {} : { tool_calls: [draft.call] }),
    },
    // Only streams have a dialect for it; a whole answer says how it really ended.
    finish_reason: finishReason,
    svc_finish_reason: finishReason,
    ...(draft.tokens.length === 0 ? {} : { logprobs: wireLogprobs(draft.tokens) }),
  };
}
