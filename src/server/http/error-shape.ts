/** Decides which clients get OpenAI's error object, and the true finish reason at the end of a stream. */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { isFields } from '../../lib/base/json.ts';

/** `string`: the interface's literal `error`; `object`: OpenAI's. */
export type ErrorShape = 'string' | 'object';

export interface Sender {
  readonly headers: IncomingHttpHeaders;
  readonly body?: unknown;
  readonly plainFields?: readonly string[] | undefined;
}

export type ChooseShape = (sender: Sender) => ErrorShape;

/** Headers of the libraries that OpenAI generates, and of others that use its API. */
const SDK_HEADER = /^(?:x-stainless-|openai-)/;
/** `OpenAI/Go 3.98.0`, `AsyncOpenAI/Python 3.57.0`, `ai-sdk/openai/3.0.141`, `async-openai`. */
const SDK_AGENT = /openai/i;

export function readsOpenAi({ headers, body, plainFields }: Sender): boolean {
  if (Object.keys(headers).some((name) => SDK_HEADER.test(name))) return true;
  if (SDK_AGENT.test(headers['user-agent'] ?? '')) return true;
  if (plainFields === undefined || !isFields(body)) return false;
  return Object.entries(body).some(
    ([name, value]) => value !== null && (!plainFields.includes(name) || hasFunction(name, value)),
  );
}

function hasFunction(name: string, value: unknown): boolean {
  if (name !== 'tools' || !Array.isArray(value)) return false;
  return value.some((tool: unknown) => Reflect.get(Object(tool), 'type') === 'function');
}

export const shapeBy =
  (setting: 'auto' | ErrorShape): ChooseShape =>
  (sender) => {
    if (setting !== 'auto') return setting;
    return readsOpenAi(sender) ? 'object' : 'string';
  };

export function readSender({ headers, body, routeOptions }: FastifyRequest): Sender {
  return { headers, body, plainFields: routeOptions.config.access?.plainFields };
}
