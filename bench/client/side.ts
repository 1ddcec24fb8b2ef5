/** A server under measurement, at any OpenAI-compatible base URL, and what a request to it is. */

/** Of an error that says that the server has closed the connection. */
const CLOSED_CODES = new Set<unknown>(['UND_ERR_SOCKET', 'ECONNRESET']);
/** As many kept connections as a scenario has streams can be closed at once. */
const MOST_CLOSED = 8;

export interface Side {
  readonly name: string;
  readonly url: string;
  readonly model: string;
  /** Sent as X-Svc-Client-Id; without it all requests of a benchmark are one client to the service. */
  readonly clientId?: string;
  /** Goes into every request for text, over what the benchmark says itself. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** The URL without a trailing slash and without `/v1`, in whichever form a client of the service has it. */
export const baseUrl = (url: string): string => url.replace(/\/+$/, '').replace(/\/v1$/, '');

export function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

/** The service answered, and with an error. */
export class Refusal extends Error {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** One whole answer; returns milliseconds and the parsed body. */
export async function postJson(
  side: Side,
  route: string,
  body: object,
): Promise<{ ms: number; body: unknown }> {
  const begin = performance.now();
  const response = await post(side, route, { model: side.model, ...body }, null);
  const parsed: unknown = await response.json();
  return { ms: performance.now() - begin, body: parsed };
}

/** Throws a `Refusal` for any answer but a good one. */
export async function post(
  side: Side,
  route: string,
  body: object,
  signal: AbortSignal | null,
): Promise<Response> {
  const send = () =>
    fetch(`${side.url}${route}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(side.clientId === undefined ? {} : { 'x-svc-client-id': side.clientId }),
      },
      body: JSON.stringify(body),
      signal,
    });
  const response = await overClosed(send);
  if (!response.ok) {
    const said = (await response.text()).slice(0, 300);
    throw new Refusal(`${side.name}: ${response.status} ${said}`, response.status);
  }
  return response;
}

/** A server may close kept connections, after so many requests for example, just when the next one is sent. */
async function overClosed(send: () => Promise<Response>): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await send();
    } catch (error) {
      if (!isClosed(error) || tries > MOST_CLOSED) throw error;
    }
  }
}

function isClosed(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : null;
  return cause instanceof Error && 'code' in cause && CLOSED_CODES.has(cause.code);
}
