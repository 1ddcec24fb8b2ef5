import { createParser } from 'eventsource-parser';
import type { Config } from '../config/config.ts';
import { clientHost, isLoopback } from '../config/listen-address.ts';
import { readInstanceId } from '../trust/identity/public-identity.ts';
import { HEADERS } from '../wire/headers.ts';
import { routes } from '../wire/routes.ts';
import { CliFailure, EXIT_CODES, type ExitCode, printable } from './context.ts';
import { homeHolder, servedAddress, unanswered } from './home-lock.ts';
import { callService, CertificateMismatch, serviceUrl } from './transport.ts';
import { inCliWords } from './words/wording.ts';

export class ServerRefusal extends CliFailure {
  readonly code: string | null;

  constructor(message: string, exitCode: ExitCode, code: string | null) {
    super(message, exitCode);
    this.code = code;
  }
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

export function baseUrl(config: Config): string {
  return serviceUrl(config);
}

export async function callServer(
  config: Config,
  method: 'GET' | 'POST',
  route: string,
  body?: object,
): Promise<ApiResponse> {
  const sent = body === undefined ? {} : { text: JSON.stringify(body) };
  const { response, text } = await exchange(config, { method, route, ...sent });
  return { status: response.status, headers: response.headers, body: parseBody(text, config) };
}

export async function postText(config: Config, request: Omit<Outgoing, 'method'>): Promise<string> {
  const { response, text } = await exchange(config, { ...request, method: 'POST' });
  if (!response.ok) {
    const { status, headers } = response;
    expectOk({ status, headers, body: parseBody(text, config) });
  }
  return text;
}

/** A chunk of a streamed answer, or a comment of the server before the first one. */
export type StreamPart = { readonly chunk: unknown } | { readonly comment: string };

export async function* streamServer(
  config: Config,
  route: string,
  body: object,
  signal?: AbortSignal,
): AsyncGenerator<StreamPart, void, void> {
  const response = await send(config, {
    method: 'POST',
    route,
    text: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
  if (!response.ok) {
    expectOk({
      status: response.status,
      headers: response.headers,
      body: parseBody(await response.text(), config),
    });
  }
  const parts: ({ readonly data: string } | { readonly comment: string })[] = [];
  const parser = createParser({
    onEvent: ({ data }) => parts.push({ data }),
    onComment: (comment) => parts.push({ comment }),
  });
  const decoder = new TextDecoder();
  try {
    for await (const bytes of readBytes(response, signal)) {
      parser.feed(decoder.decode(bytes, { stream: true }));
      for (const part of parts.splice(0)) {
        if ('comment' in part) yield part;
        else if (part.data === '[DONE]') return;
        else yield { chunk: readChunk(parseBody(part.data, config)) };
      }
    }
  } catch (error) {
    if (error instanceof CliFailure) throw error;
    throw new CliFailure('the answer broke off', EXIT_CODES.failure, error);
  }
  throw new CliFailure('the answer broke off');
}

export async function* openStream(
  config: Config,
  outgoing: Outgoing,
): AsyncGenerator<Uint8Array, void, void> {
  const response = await send(config, outgoing);
  if (!response.ok) {
    const { status, headers } = response;
    expectOk({ status, headers, body: parseBody(await response.text(), config) });
  }
  try {
    yield* readBytes(response, outgoing.signal);
  } catch (error) {
    if (error instanceof CliFailure) throw error;
    throw new CliFailure('the connection to the server broke off', EXIT_CODES.unreachable, error);
  }
}

/**
 * Ends when the signal fires, which closes the connection. The reader is cancelled too, so that a pending read ends
 * at once.
 */
async function* readBytes(response: Response, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (signal?.aborted === true) throw new CliFailure('stopped');
      if (done) return;
      yield value;
    }
  } finally {
    signal?.removeEventListener('abort', cancel);
    cancel();
  }
}

function readChunk(value: unknown): unknown {
  const refusal = refusalIn(value, EXIT_CODES.failure);
  if (refusal !== null) throw refusal;
  return value;
}

interface Outgoing {
  readonly method: 'GET' | 'POST';
  readonly route: string;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

async function exchange(
  config: Config,
  outgoing: Outgoing,
): Promise<{ readonly response: Response; readonly text: string }> {
  const response = await send(config, outgoing);
  try {
    return { response, text: await response.text() };
  } catch (cause) {
    throw new CliFailure('the answer broke off', EXIT_CODES.failure, cause);
  }
}

async function send(config: Config, { method, route, text, headers, signal }: Outgoing): Promise<Response> {
  try {
    const response = await callService(config, {
      method,
      path: route,
      headers: {
        ...(config.apiKey === null ? {} : { authorization: `Bearer ${config.apiKey}` }),
        ...(text === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(text === undefined ? {} : { body: text }),
      ...(signal === undefined ? {} : { signal }),
    });
    if (!JUDGED_BY_CALLER.some((path) => route.startsWith(path))) await warnOfStranger(config, response);
    return response;
  } catch (cause) {
    if (cause instanceof CertificateMismatch || TLS_FAILURE.test(systemCode(cause)))
      throw distrusted(config, cause);
    const holder = await homeHolder(config.home);
    throw new CliFailure(
      unanswered({ url: config.socket ?? baseUrl(config), host: config.host, port: config.port }, holder),
      EXIT_CODES.unreachable,
      cause,
    );
  }
}

const JUDGED_BY_CALLER: readonly string[] = [routes.identity.path, routes.health.path];

let hasWarned = false;

/** On this machine, the usual port may belong to another home or user; the owner of a remote host was chosen. */
async function warnOfStranger(config: Config, { headers }: Response): Promise<void> {
  if (hasWarned || (config.socket === null && !isLoopback(clientHost(config.host)))) return;
  const answering = headers.get(HEADERS.instanceId);
  // A system service keeps its identity from other users, so nothing can be compared.
  const own = await readInstanceId(config.home).catch(() => answering);
  if (answering === own) return;
  hasWarned = true;
  const address = servedAddress((await homeHolder(config.home).catch(() => null))?.purpose ?? '');
  const remedy =
    address === null
      ? 'start your own with: hearth serve --port PORT, and set SVC_PORT to it'
      : `to reach your own, set SVC_HOST=${address.host} SVC_PORT=${address.port}`;
  const where = config.socket ?? baseUrl(config);
  const who = answering === null ? 'another program' : `another Hearth (instance ${printable(answering)})`;
  process.stderr.write(
    `hearth: ${who}, not the service of ${config.home}, answers at ${where} and gets what you send; ${remedy}\n`,
  );
}

/** Codes of OpenSSL and Node for a failed handshake. */
const TLS_FAILURE = /^(?:CERT_|ERR_SSL_|ERR_TLS_|EPROTO|UNABLE_|DEPTH_ZERO)/;

const systemCode = (error: unknown): string => String((error as NodeJS.ErrnoException).code ?? '');

const WHY_DISTRUSTED: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'it has expired',
  CERT_NOT_YET_VALID: 'it is not valid yet',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it speaks plain http',
  EPROTO: 'it speaks plain http',
};

function distrusted(config: Config, cause: unknown): CliFailure {
  const why = WHY_DISTRUSTED[systemCode(cause)] ?? 'it shows another certificate';
  return new CliFailure(
    `the service at ${baseUrl(config)} is not trusted with the certificate ${config.tlsCert} (${why}); restart hearth serve if its certificate or its settings changed`,
    EXIT_CODES.failure,
    cause,
  );
}

function parseBody(text: string, config: Config): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CliFailure(
      `the server at ${baseUrl(config)} is not Hearth (its response is not JSON)`,
      EXIT_CODES.failure,
      cause,
    );
  }
}

export function expectOk(response: ApiResponse): unknown {
  if (response.status < 400) return response.body;
  const exitCode = response.status === 404 ? EXIT_CODES.notFound : EXIT_CODES.failure;
  const refusal = refusalIn(response.body, exitCode);
  throw refusal ?? new CliFailure(`the server answered ${response.status}`, exitCode);
}

function refusalIn(body: unknown, exitCode: ExitCode): ServerRefusal | null {
  const { error, message, code } = (body ?? {}) as { error?: unknown; message?: unknown; code?: unknown };
  if (error === undefined || typeof message !== 'string') return null;
  return new ServerRefusal(inCliWords(message), exitCode, typeof code === 'string' ? code : null);
}
