/** A whole chat answer in its wire shape. The service answers with it; a replay compares it with what was signed. */
import type { ChatResponse } from '../../../wire/inference/chat.ts';
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
  /** A fresh id for an answer that was made in this second. */
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

/** The part of the body that the model decides. */
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
    // Only streams have a dialect for it; a whole answer says how it really ended.
    finish_reason: finishReason,
    svc_finish_reason: trueFinishReason(answer.done),
    ...(answer.tokens.length === 0 ? {} : { logprobs: wireLogprobs(answer.tokens) }),
  };
}

/** Adds members that OpenAI's schema requires. Signed answers stay without, as replays compare them with older ones. */
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
 * Ids of whole answers: digits only, unique in this process, and in the order of their time when compared as text.
 * The first answer of a second has the interface's literal form, `chatcmpl-svc-<unix seconds>`; the next ones of that
 * second append a counter. Clients key messages on these ids and lose one where two are equal.
 */
export function createAnswerIds(): (unixSeconds: number) => string {
  let latest = -Infinity;
  let further = 0;
  return (unixSeconds) => {
    // A clock that is set back does not bring used ids back.
    if (unixSeconds > latest) {
      latest = unixSeconds;
      further = 0;
      return `chatcmpl-svc-${latest}`;
    }
    further += 1;
    return `chatcmpl-svc-${latest}${String(further).padStart(COUNTER_DIGITS, '0')}`;
  };
}
