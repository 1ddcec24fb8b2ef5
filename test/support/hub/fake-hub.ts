/**
 * A hub and its CDN as real HTTP servers on loopback: references, paged listings, redirects to another origin with
 * links that expire, ranges. Tests bend it with hooks that see a request first and may answer it themselves.
 */
import { createHash } from 'node:crypto';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export const COMMIT = 'abcdef0123456789abcdef0123456789abcdef01';

export interface SeenRequest {
  readonly server: 'hub' | 'cdn';
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** Returns true when it has answered. */
export type Hook = (request: IncomingMessage, response: ServerResponse, url: URL) => boolean;

export interface FakeFile {
  readonly content: Buffer;
  /** False for a small file that lies in git itself. */
  readonly lfs?: boolean;
}

export class FakeHub {
  readonly repo: string;
  readonly files: Map<string, FakeFile>;
  readonly seen: SeenRequest[] = [];
  onHub: Hook = () => false;
  onCdn: Hook = () => false;
  /** The listing as sent; tests replace it to lie. */
  listing: () => unknown = () => this.#tree();
  /** Search results, for any words. */
  found: (url: URL) => unknown = () => [{ id: this.repo, downloads: 1200, likes: 7, gated: false }];
  pageSize = 1000;
  endpoint = '';
  cdn = '';
  #links = 0;
  readonly #validLinks = new Set<string>();

  constructor(repo: string, files: Readonly<Record<string, Buffer | FakeFile>>) {
    this.repo = repo;
    this.files = new Map(
      Object.entries(files).map(([path, file]) => [path, Buffer.isBuffer(file) ? { content: file } : file]),
    );
  }

  /** Options with which a pull reaches this hub and is allowed to follow it to its CDN. */
  get access() {
    return {
      endpoint: this.endpoint,
      trustedHosts: [new URL(this.cdn).host],
      retries: { tries: 4, firstDelayMs: 1, longestDelayMs: 2 },
    };
  }

  requests(server: 'hub' | 'cdn'): SeenRequest[] {
    return this.seen.filter((request) => request.server === server);
  }

  /** Makes every link that was handed out so far answer 403. */
  expireLinks(): void {
    this.#validLinks.clear();
  }

  async start(): Promise<this> {
    this.endpoint = await listen(
      this.#server('hub', (request, response, url) => this.#answerHub(request, response, url)),
    );
    this.cdn = await listen(
      this.#server('cdn', (request, response, url) => this.#answerCdn(request, response, url)),
    );
    return this;
  }

  #server(
    name: 'hub' | 'cdn',
    answer: (request: IncomingMessage, response: ServerResponse, url: URL) => void,
  ): Server {
    return createServer((request, response) => {
      const url = new URL(request.url ?? '/', 'http://x');
      this.seen.push({ server: name, path: url.pathname + url.search, headers: request.headers });
      // A client that goes away in the middle is what many of the tests are about.
      response.on('error', () => {});
      const hook = name === 'hub' ? this.onHub : this.onCdn;
      if (!hook(request, response, url)) answer(request, response, url);
    });
  }

  #answerHub(_request: IncomingMessage, response: ServerResponse, url: URL): void {
    const api = `/api/models/${this.repo}`;
    if (url.pathname === '/api/models') return sendJson(response, this.found(url));
    if (url.pathname === `${api}/refs`) {
      return sendJson(response, {
        branches: [{ name: 'main', ref: 'refs/heads/main', targetCommit: COMMIT }],
        tags: [],
      });
    }
    if (url.pathname === `${api}/tree/${COMMIT}`) return this.#sendTree(response, url);
    const prefix = `/${this.repo}/resolve/${COMMIT}/`;
    const path = decodeURIComponent(url.pathname.slice(prefix.length));
    const file = url.pathname.startsWith(prefix) ? this.files.get(path) : undefined;
    if (!file)
      return sendError(response, 404, url.pathname.includes(this.repo) ? 'EntryNotFound' : 'RepoNotFound');
    this.#links += 1;
    const link = `/file/${encodeURIComponent(path)}?signature=${this.#links}`;
    this.#validLinks.add(link);
    response.writeHead(302, {
      location: this.cdn + link,
      'x-repo-commit': COMMIT,
      'x-linked-size': String(file.content.length),
      'x-linked-etag': `"${sha256(file.content)}"`,
    });
    response.end();
  }

  #sendTree(response: ServerResponse, url: URL): void {
    const entries = this.listing();
    if (!Array.isArray(entries)) return sendJson(response, entries);
    const start = Number(url.searchParams.get('cursor') ?? 0);
    const next = start + this.pageSize;
    const more = `<${this.endpoint}${url.pathname}?recursive=true&cursor=${next}>; rel="next"`;
    sendJson(response, entries.slice(start, next), next < entries.length ? { link: more } : {});
  }

  #answerCdn(request: IncomingMessage, response: ServerResponse, url: URL): void {
    const path = decodeURIComponent(url.pathname.slice('/file/'.length));
    const file = this.files.get(path);
    if (!file || !this.#validLinks.has(url.pathname + url.search)) return sendError(response, 403, '');
    sendBytes(request, response, file.content);
  }

  #tree(): unknown[] {
    return [
      { type: 'directory', oid: '0'.repeat(40), size: 0, path: 'docs' },
      ...[...this.files].map(([path, { content, lfs }]) => ({
        type: 'file',
        path,
        size: content.length,
        oid: createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex'),
        ...(lfs === false ? {} : { lfs: { oid: sha256(content), size: content.length, pointerSize: 134 } }),
      })),
    ];
  }
}

export async function startFakeHub(
  files: Readonly<Record<string, Buffer | FakeFile>>,
  repo = 'Some/Model-GGUF',
): Promise<FakeHub> {
  return new FakeHub(repo, files).start();
}

/** Serves the bytes whole or in the range that was asked for. */
export function sendBytes(request: IncomingMessage, response: ServerResponse, content: Buffer): void {
  const [, from] = /^bytes=(\d+)-/.exec(request.headers.range ?? '') ?? [];
  const start = Number(from ?? 0);
  if (start >= content.length && content.length > 0) {
    response.writeHead(416, { 'content-range': `bytes */${content.length}` });
    response.end();
    return;
  }
  const part = content.subarray(start);
  const range =
    from === undefined ? {} : { 'content-range': `bytes ${start}-${content.length - 1}/${content.length}` };
  response.writeHead(from === undefined ? 200 : 206, {
    'content-length': part.length,
    etag: '"cdn-etag"',
    ...range,
  });
  response.end(part);
}

export function sendJson(
  response: ServerResponse,
  value: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  response.end(typeof value === 'string' ? value : JSON.stringify(value));
}

export function sendError(
  response: ServerResponse,
  status: number,
  code: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { ...(code === '' ? {} : { 'x-error-code': code }), ...headers });
  response.end('{"error":"no"}');
}

/** Starts a server on a free loopback port for the duration of the test and returns its origin. */
export async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
