/** The CLI's way to the running server: fetch with the configured address and key, and errors in plain words. */
import type { Config } from '../config/config.ts';
import { clientBaseUrl } from '../config/listen-address.ts';
import { CliFailure, exitCodes } from './context.ts';

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
  const url = `${baseUrl(config)}${route}`;
  let response: Response;
  try {
    response = await fetch(url, {
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
      exitCodes.unreachable,
      cause,
    );
  }
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: parseBody(text, url) };
}

function parseBody(text: string, url: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CliFailure(
      `what answers at ${url} is not Hearth (its answer is not JSON)`,
      exitCodes.failure,
      cause,
    );
  }
}

/** The body of a success, or the server's own sentence as a failure. */
export function expectOk(response: ApiResponse): unknown {
  if (response.status < 400) return response.body;
  const sentence = (response.body as { error?: unknown } | null)?.error;
  const message = typeof sentence === 'string' ? sentence : `the server answered ${response.status}`;
  throw new CliFailure(message, response.status === 404 ? exitCodes.notFound : exitCodes.failure);
}
