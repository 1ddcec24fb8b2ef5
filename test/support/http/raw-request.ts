/** A request whose headers are sent as they are: repeated, empty, in any case. */
import { once } from 'node:events';
import http from 'node:http';
import { text } from 'node:stream/consumers';

export type Header = readonly [name: string, value: string];

export interface RawAnswer {
  readonly status: number;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- bodies of several routes
  readonly body: any;
}

/** A POST where there is a body. */
export async function askRaw(
  url: string,
  path: string,
  headers: readonly Header[],
  body?: object,
): Promise<RawAnswer> {
  const bytes = body === undefined ? '' : JSON.stringify(body);
  const raw = [
    ['Host', '127.0.0.1'],
    ...(body === undefined ? [] : [['Content-Type', 'application/json']]),
    ['Content-Length', String(Buffer.byteLength(bytes))],
    ...headers,
  ];
  const method = body === undefined ? 'GET' : 'POST';
  const request = http.request(new URL(url), { method, path, headers: raw.flat(), agent: false });
  request.end(bytes);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const said = await text(response);
  return { status: response.statusCode ?? 0, text: said, body: JSON.parse(said) };
}

export const bearer = (key: string): Header => ['Authorization', `Bearer ${key}`];
