import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { fail } from '../../lib/errors/svc-error.ts';
import { builtFile } from '../../lib/base/package-folder.ts';
import { routes } from '../../wire/routes.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * Scripts, styles and pictures come from this service only, nothing is inline, and the page connects only to the
 * service and the operator's origins. Text that became markup by mistake could neither run nor fetch anything.
 */
const contentSecurityPolicy = (connect: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    ["connect-src 'self'", ...connect].join(' '),
    // Only for the preview, whose content cannot navigate its frame to another site.
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    // Creates the URL of one worker, never from text.
    'trusted-types hearth-pdf',
  ].join('; ');

const pageHeaders = (connect: readonly string[]): Readonly<Record<string, string>> => ({
  'Content-Security-Policy': contentSecurityPolicy(connect),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
});

/** Renders a model's HTML in a frame without any rights. */
const PREVIEW = 'preview.html';

/**
 * The preview has an origin of its own, runs only its own script, and fetches nothing: a model's text may style
 * itself and nothing else.
 */
function previewHeaders(document: Buffer): Readonly<Record<string, string>> {
  const [, script = ''] = /<script>([\s\S]*?)<\/script>/.exec(document.toString('utf8')) ?? [];
  const hash = createHash('sha256').update(script).digest('base64');
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${hash}'`,
    "style-src 'unsafe-inline'",
    'img-src data:',
    'font-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    'sandbox allow-scripts',
  ].join('; ');
  return { ...pageHeaders([]), 'Content-Security-Policy': policy, 'X-DNS-Prefetch-Control': 'off' };
}

/** All file names except the document's contain a content hash. */
const FOR_EVER = 'public, max-age=31536000, immutable';
const ASK_AGAIN = 'no-cache';

type PageHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

interface PageFile {
  readonly type: string;
  readonly caching: string;
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly plain: Buffer;
  readonly gzipped: Buffer;
}

export const PAGE_ADDRESS = routes.page.path.replace('*', '');

/**
 * `connect`: origins that the page may call in addition to the service. Files are read once at start, so that the
 * served bytes are those of the server's identity.
 */
export function pageHandler(connect: readonly string[], folder: string = builtFile('ui')): PageHandler {
  const files = readFiles(folder, pageHeaders(connect));
  files.catch(() => undefined);
  return async (request, reply) => {
    const { '*': asked } = request.params as { '*': string };
    const file = (await files).get(asked === '' ? 'index.html' : asked);
    if (file === undefined)
      throw fail('route_not_found', { method: request.method, path: PAGE_ADDRESS + asked.slice(0, 200) });
    reply.headers(file.headers).headers({
      'Cache-Control': file.caching,
      ETag: file.etag,
      Vary: 'Accept-Encoding',
    });
    if (request.headers['if-none-match'] === file.etag) return reply.code(304).send();
    const takesGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(
      String(request.headers['accept-encoding'] ?? ''),
    );
    if (takesGzip) reply.header('Content-Encoding', 'gzip');
    return reply.type(file.type).send(takesGzip ? file.gzipped : file.plain);
  };
}

export function pageRedirect(): PageHandler {
  return async (_request, reply) => reply.redirect(PAGE_ADDRESS, 308);
}

/** Only browsers list HTML before everything else. */
export const wantsPage = (accept: string | undefined): boolean => /^\s*text\/html\b/i.test(accept ?? '');

async function readFiles(
  folder: string,
  headers: PageFile['headers'],
): Promise<ReadonlyMap<string, PageFile>> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => path.extname(name) in TYPES);
  const entries = names.map(
    async (name) => [name, await readPageFile(path.join(folder, name), headers)] as const,
  );
  return new Map(await Promise.all(entries));
}

async function readPageFile(file: string, headers: PageFile['headers']): Promise<PageFile> {
  const [plain, gzipped] = await Promise.all([readFile(file), readFile(`${file}.gz`)]);
  const extension = path.extname(file);
  return {
    type: TYPES[extension] ?? 'application/octet-stream',
    caching: extension === '.html' ? ASK_AGAIN : FOR_EVER,
    etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 16)}"`,
    headers: path.basename(file) === PREVIEW ? previewHeaders(plain) : headers,
    plain,
    gzipped,
  };
}
