/**
 * Checks that an answer is what its route promises: the schema of the route table, read exactly, so that a member
 * nobody declared is a failure too. The shared client calls this for every answer of every test.
 */
import { Ajv, type ValidateFunction } from 'ajv';
import { ChatChunk } from '../../../src/wire/inference/chat.ts';
import { CompletionResponse } from '../../../src/wire/inference/completions.ts';
import { DryRun } from '../../../src/wire/inference/dry-run.ts';
import { errorBodies } from '../../../src/wire/error.ts';
import { NativeEvent } from '../../../src/wire/llama-server.ts';
import { MessagesEvent } from '../../../src/wire/messages/response.ts';
import { ResponsesEvent } from '../../../src/wire/responses/events.ts';
import { OllamaStatus } from '../../../src/wire/ollama/models.ts';
import { OllamaChatAnswer, OllamaGenerateAnswer } from '../../../src/wire/ollama/response.ts';
import { type Route, routes } from '../../../src/wire/routes.ts';

const ajv = new Ajv({ strict: false, allErrors: true });
const compiled = new Map<object, ValidateFunction>();

/** Throws with what is wrong. */
export function checkAnswer(method: string, path: string, status: number, body: unknown): void {
  if (status >= 400) return checkRefusal(path, body, `${status} of ${method} ${path}`);
  if (/[?&]svc_dry_run=1\b/.test(path)) return check(DryRun, body, `the dry run of ${method} ${path}`);
  const route = routeOf(method, path);
  if (route?.response) check(route.response, body, `${status} of ${method} ${path}`);
}

/** Its words are about what was sent, never about how this program holds it. */
function checkRefusal(path: string, body: unknown, what: string): void {
  check(errorBodies[dialectOf(path)], body, what);
  const words = JSON.stringify(body);
  if (/\bundefined\b|\[object \w+\]/.test(words)) throw new Error(`${what} says: ${words}`);
}

/** A `data:` line of a stream that is not the terminator. */
export function checkFrame(path: string, frame: unknown): 'chunk' | 'error' {
  const isError = typeof frame === 'object' && frame !== null && 'error' in frame;
  const ofDialect = path.split('?')[0] === '/v1/completions' ? CompletionResponse : EVENTS[dialectOf(path)];
  if (isError) checkRefusal(path, frame, `a frame of ${path}`);
  else check(ofDialect, frame, `a frame of ${path}`);
  return isError ? 'error' : 'chunk';
}

/** An event of a stream in another dialect; throws with what is wrong. */
export function checkEvent(path: string, event: unknown): void {
  check(EVENTS[dialectOf(path)], event, `an event of ${path}`);
}

const EVENTS = {
  native: ChatChunk,
  messages: MessagesEvent,
  responses: ResponsesEvent,
  'llama-server': NativeEvent,
  ollama: { anyOf: [OllamaChatAnswer, OllamaGenerateAnswer, OllamaStatus] },
};

/** Whose words a path speaks, whatever the method. */
function dialectOf(path: string): keyof typeof errorBodies {
  const table: readonly Route[] = Object.values(routes);
  return table.find((route) => isAt(route, path))?.dialect ?? 'native';
}

/** The entry of the route table that answers, if one does. */
function routeOf(method: string, path: string): Route | undefined {
  const table: readonly Route[] = Object.values(routes);
  return table.find((route) => route.method === method && isAt(route, path));
}

function isAt(route: Route, path: string): boolean {
  const [plain = ''] = path.split('?');
  const pattern = route.path.replace(/\*$/, '.*').replaceAll(/:\w+/g, '[^/]+');
  return new RegExp(`^${pattern}$`).test(plain);
}

function check(schema: object, value: unknown, what: string): void {
  const validate = compiled.get(schema) ?? ajv.compile(exactly(schema) as object);
  compiled.set(schema, validate);
  if (validate(value)) return;
  const faults = validate.errors?.map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
  throw new Error(`${what} does not match its schema: ${faults?.join('; ')}\n${JSON.stringify(value)}`);
}

/** The schema with every object closed that does not open itself; without ids, which ajv would register twice. */
function exactly(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(exactly);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).filter(([key]) => key !== '$id');
  const copy = Object.fromEntries(entries.map(([key, value]) => [key, exactly(value)]));
  const closed = copy['type'] === 'object' && 'properties' in copy && !('additionalProperties' in copy);
  return closed ? { ...copy, additionalProperties: false } : copy;
}
