/** From the chat request's own fields to the shape of a job. */
import type { Turn } from '../engine/job.ts';
import { fail } from '../errors/svc-error.ts';
import type { ChatRequest, RequestMessage } from '../protocol/chat.ts';
import type { JobShape } from './generation.ts';

export function chatShape(body: ChatRequest): JobShape {
  return {
    prompt: { kind: 'chat', turns: body.messages.map(readTurn) },
    tools: [],
    toolChoice: { mode: 'none' },
    format: { kind: 'text' },
    reasoning: {},
    topLogprobs: body.logprobs === true ? (body.top_logprobs ?? 0) : null,
  };
}

function readTurn(message: RequestMessage, index: number): Turn {
  const role = message.role === 'developer' ? 'system' : message.role;
  const { content } = message;
  if (typeof content === 'string') return { role, content: content.toWellFormed() };
  if (Array.isArray(content)) {
    const texts = content.map((part, at) => {
      if (part.type === 'text' && typeof part.text === 'string') return part.text;
      const field = `messages[${index}].content[${at}]`;
      throw fail('invalid_request', {
        message: `${field} is of type "${String(part.type).slice(0, 32)}"; only text parts are served.`,
        param: field,
      });
    });
    return { role, content: texts.join('').toWellFormed() };
  }
  if (role === 'assistant') return { role, content: '' };
  const field = `messages[${index}].content`;
  throw fail('invalid_request', { message: `${field} is required; send a string.`, param: field });
}
