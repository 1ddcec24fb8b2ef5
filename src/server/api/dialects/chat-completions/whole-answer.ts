import type { ChatResponse } from '../../../../wire/inference/chat.ts';
import { type Answer, answerCalls, type Collected, answerText } from '../../chat/collected.ts';
import {
  answerHead,
  type HeadPorts,
  trueFinishReason,
  wireLogprobs,
  wireIncidents,
  wireTimings,
  wireUsage,
} from '../../generation/usage.ts';
import type { ServedModel } from '../../models/served-model.ts';

export interface WholeAnswerPorts extends HeadPorts {
  readonly answerId: (unixSeconds: number) => string;
}

export async function wholeAnswer(
  ports: WholeAnswerPorts,
  model: ServedModel,
  collected: Collected,
): Promise<ChatResponse> {
  const head = await answerHead(ports, model, {
    object: 'chat.completion' as const,
    makeId: ports.answerId,
  });
  const [{ done }] = collected.answers;
  return { ...head, ...wireAnswer(collected), timings: wireTimings(done), ...wireIncidents(done) };
}

export function wireAnswer({ answers }: Pick<Collected, 'answers'>): Pick<ChatResponse, 'choices' | 'usage'> {
  return {
    choices: answers.map(wireChoice),
    usage: wireUsage(answers.map(({ done }) => done.usage)),
  };
}

function wireChoice(answer: Answer, index: number): ChatResponse['choices'][number] {
  const reasoning = answerText(answer, 'reasoning');
  const calls = answerCalls(answer);
  const { finishReason } = answer.done;
  return {
    index,
    message: {
      role: 'assistant',
      content: answerText(answer, 'text'),
      ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
      ...(calls.length === 0 ? {} : { tool_calls: calls.map(wireCall) }),
    },
    // Only streams map finish reasons; a complete answer has the true one.
    finish_reason: finishReason,
    svc_finish_reason: trueFinishReason(answer.done),
    ...(answer.tokens.length === 0 ? {} : { logprobs: wireLogprobs(answer.tokens) }),
  };
}

/**
 * Adds members that OpenAI's schema requires. Signed answers do not have them, because replays compare them with
 * older records.
 */
export function withNulls(body: ChatResponse): ChatResponse {
  const choices = body.choices.map(({ message, ...choice }) => ({
    logprobs: null,
    ...choice,
    message: { ...message, refusal: null },
  }));
  return { ...body, choices };
}

const wireCall = ({ id, name, pieces }: ReturnType<typeof answerCalls>[number]) => ({
  id,
  type: 'function' as const,
  function: { name, arguments: pieces.join('') },
});

/** Digits of the counter; more than 999,999 answers in a second would still be unique, but not in order. */
const COUNTER_DIGITS = 6;

/**
 * Ids of complete answers: digits only, unique in this process, and ordered by time when compared as text. The first
 * answer of a second has the interface's literal form, `chatcmpl-svc-<unix seconds>`; the next ones append a counter.
 * Clients key messages on these ids and lose one if two are equal.
 */
export function createAnswerIds(): (unixSeconds: number) => string {
  let latest = -Infinity;
  let further = 0;
  return (unixSeconds) => {
    if (unixSeconds > latest) {
      latest = unixSeconds;
      further = 0;
      return `chatcmpl-svc-${latest}`;
    }
    further += 1;
    return `chatcmpl-svc-${latest}${String(further).padStart(COUNTER_DIGITS, '0')}`;
  };
}
