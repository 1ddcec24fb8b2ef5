/** The CLI's way to the running server: fetch with the configured address and key, and errors in plain words. */
import { createParser } from 'eventsource-parser';
import type { Config } from '../config/config.ts';
import { clientBaseUrl } from '../config/listen-address.ts';
import { CliFailure, EXIT_CODES } from './context.ts';

export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

export function baseUrl(config: Config): string {
  return clientBaseUrl(config.host, config.port);
}

/** One request to the server; an unreachable server ends the verb with exit code 3. */
export async function callServer(
  config: Config,
  method: 'GET' | 'POST',
  route: string,
  body?: object,
): Promise<ApiResponse> {
  const response = await send(config, method, route, body);
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: parseBody(text, response.url) };
}

/** The chunks of a streamed answer; a stream that breaks off, or ends in an error frame, ends the verb. */
export async function* streamServer(
  config: Config,
  route: string,
  body: object,
): AsyncGenerator<unknown, void, void> {
  const response = await send(config, 'POST', route, body);
  if (!response.ok) {
    expectOk({
      status: response.status,
      headers: response.headers,
      body: parseBody(await response.text(), response.url),
    });
  }
  const events: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => events.push(data) });
  const decoder = new TextDecoder();
  try {
    for await (const bytes of response.body ?? []) {
      parser.feed(decoder.decode(bytes as Uint8Array, { stream: true }));
      for (const data of events.splice(0)) {
        if (data === '[DONE]') return;
        yield chunkOf(parseBody(data, response.url));
      }
    }
  } catch (error) {
    if (error instanceof CliFailure) throw error;
    throw new CliFailure('the answer broke off', EXIT_CODES.failure, error);
  }
  throw new CliFailure('the answer broke off');
}

function chunkOf(value: unknown): unknown {
  const sentence = (value as { error?: unknown } | null)?.error;
  if (typeof sentence === 'string') throw new CliFailure(sentence);
  return value;
}

async function send(config: Config, method: 'GET' | 'POST', route: string, body?: object): Promise<Response> {
  try {
    return await fetch(`${baseUrl(config)}${route}`, {
      method,
      redirect: 'error',
      headers: {
        ...(config.apiKey === null ? {} : { authorization: `Bearer ${config.apiKey}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch (cause) {
    throw new CliFailure(
      `no server answers at ${baseUrl(config)}; start one with: hearth serve`,
      EXIT_CODES.unreachable,
      cause,
    );
  }
}

function parseBody(text: string, url: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CliFailure(
      `the server at ${url} is not Hearth (its response is not JSON)`,
      EXIT_CODES.failure,
      cause,
    );
  }
}

/** The body of a success, or the server's own sentence as a failure. */
export function expectOk(response: ApiResponse): unknown {
  if (response.status < 400) return response.body;
  const sentence = (response.body as { error?: unknown } | null)?.error;
  const message = typeof sentence === 'string' ? sentence : `the server answered ${response.status}`;
  throw new CliFailure(message, response.status === 404 ? EXIT_CODES.notFound : EXIT_CODES.failure);
}
