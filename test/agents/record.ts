/**
 * Writes what an agent sent as a fixture of test/contract/agents.test.ts: the shapes as they are, its words replaced. Stands
 * between the agent and the service while HEARTH_AGENTS_RECORD names a folder.
 */
import { writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { json } from 'node:stream/consumers';

interface Sent {
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
}

export class Recorder {
  readonly #server: http.Server;
  readonly #sent: Sent[] = [];

  private constructor(target: string) {
    this.#server = http.createServer((request, response) => void this.#pass(target, request, response));
  }

  static async before(target: string): Promise<Recorder> {
    const recorder = new Recorder(target);
    await new Promise<void>((resolve) => recorder.#server.listen(0, '127.0.0.1', resolve));
    return recorder;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The last request with a result of a tool, which shows the most. */
  async write(file: string): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    const last = this.#sent.findLast(({ body }) => hasResult(body)) ?? this.#sent.at(-1);
    if (last === undefined) return;
    const words = new Words();
    const { model: _, ...body } = last.body;
    const fixture = {
      path: last.path,
      headers: headersOf(last.headers),
      body: { model: 'hearth', ...(words.replaced(body) as object) },
    };
    await writeFile(path.resolve(file), `${JSON.stringify(fixture, null, 2)}\n`);
  }

  async #pass(target: string, request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const body = request.method === 'POST' ? ((await json(request)) as Sent['body']) : undefined;
    if (body !== undefined) this.#sent.push({ path: request.url ?? '/', headers: request.headers, body });
    const text = body === undefined ? undefined : JSON.stringify(body);
    const { 'content-length': _, ...headers } = request.headers;
    const length = text === undefined ? {} : { 'content-length': Buffer.byteLength(text) };
    const options = {
      method: request.method,
      headers: { ...headers, ...length, host: new URL(target).host },
    };
    const passed = http.request(new URL(request.url ?? '/', target), options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    passed.end(text);
  }
}

/** What says nothing of the agent, or is a secret. */
const OWN_HEADERS = /^(host|connection|content-length|accept-encoding|keep-alive|transfer-encoding)$/;

function headersOf(headers: Sent['headers']): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => !OWN_HEADERS.test(name));
  return Object.fromEntries(
    kept.map(([name, value]) => [name, name === 'authorization' ? 'Bearer dummy' : idless(String(value))]),
  );
}

const idless = (text: string): string =>
  /[0-9a-f]{8}-[0-9a-f]{4}|\{/i.test(text) ? '0' : text.slice(0, 200);

const hasResult = (body: object): boolean =>
  /"(tool_result|function_call_output|tool_call_id)"/.test(JSON.stringify(body));

/** Texts that people wrote: those of a sentence's length, and whatever describes. */
class Words {
  #count = 0;

  replaced(value: unknown, key = ''): unknown {
    if (typeof value === 'string') return this.#text(value, key);
    if (Array.isArray(value)) return value.map((item) => this.replaced(item, key));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, this.replaced(item, name)]));
  }

  #text(text: string, key: string): string {
    if (key === 'pattern' || key === '$schema' || key === '$ref') return text;
    if (!/^(description|title|text|content|thinking|instructions)$/.test(key) && !/\s/.test(text))
      return key === 'arguments' ? text : idless(text);
    if (key === 'arguments') return text;
    this.#count += 1;
    return `Words of the client, number ${this.#count}.`;
  }
}
