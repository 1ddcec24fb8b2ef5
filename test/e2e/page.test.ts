/** How the page is delivered, by the built service; what it does in a browser is tested in test/ui. */
import { once } from 'node:events';
import http from 'node:http';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Installation, type Served } from '../support/process/installation.ts';

let installation: Installation;
let served: Served;
beforeAll(async () => {
  installation = await Installation.make({ trained: false });
  served = await installation.serve({ SVC_API_KEY: 'secret' });
});
afterAll(() => installation.remove());

const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(served.url + path, { headers, redirect: 'manual' });

describe('the page', () => {
  it('is where a browser is led to, without the key; other programs get what they always got', async () => {
    const browser = await get('/', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
    expect([browser.status, browser.headers.get('location')]).toEqual([302, '/ui/']);
    const typed = await get('/ui');
    expect([typed.status, typed.headers.get('location')]).toEqual([308, '/ui/']);
    expect((await get('/')).status).toBe(401);
    const { body } = await served.client.get('/');
    expect(Object.keys(body)).toEqual(['product', 'identity', 'documentation']);
  });

  it('has a policy that lets nothing run or load but its own files', async () => {
    const { status, headers } = await get('/ui/');
    expect(status).toBe(200);
    const policy = headers.get('content-security-policy') ?? '';
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "connect-src 'self'",
      "frame-ancestors 'none'",
    ])
      expect(policy).toContain(rule);
    expect(policy).not.toMatch(/unsafe|\*|https?:|data:/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('may call further addresses of this machine, where the service names them', async () => {
    const servers = 'http://127.0.0.1:3001,http://localhost:3002';
    const open = await installation.serve({ SVC_PAGE_CONNECT: servers, ...installation.anotherHome() });
    const { headers } = await fetch(`${open.url}/ui/`);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("connect-src 'self' http://127.0.0.1:3001 http://localhost:3002;");
    const preview = await fetch(`${open.url}/ui/preview.html`);
    expect(preview.headers.get('content-security-policy')).not.toMatch(/connect-src|https?:/);
    for (const wrong of [
      'https://example.com',
      'http://127.0.0.1:1; script-src *',
      'http://127.0.0.1.evil.example',
    ]) {
      expect((await installation.run(['config'], { SVC_PAGE_CONNECT: wrong })).stderr).toContain(
        'SVC_PAGE_CONNECT',
      );
    }
  });

  it('is kept by a browser as long as it is the same', async () => {
    const document = await get('/ui/', { 'accept-encoding': 'identity' });
    const html = await document.text();
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|https?:/);
    expect(document.headers.get('cache-control')).toBe('no-cache');
    const again = await get('/ui/', { 'if-none-match': document.headers.get('etag') ?? '' });
    expect([again.status, await again.text()]).toEqual([304, '']);

    const names = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThanOrEqual(3);
    for (const name of names) {
      const asset = await get(`/ui/${name}`);
      expect([name, asset.status]).toEqual([name, 200]);
      expect(asset.headers.get('cache-control')).toContain('immutable');
    }
  });

  it('is sent gzipped to whom takes that', async () => {
    const gzipped = await rawBody('/ui/', 'gzip, deflate');
    expect(gunzipSync(gzipped).toString()).toContain('<!doctype html>');
    expect((await rawBody('/ui/', 'gzip;q=0, identity')).toString()).toContain('<!doctype html>');
  });

  it.each([
    '/ui/nothing.js',
    '/ui/../app.js',
    '/ui/%2e%2e/app.js',
    '/ui/..%2fapp.js',
    '/ui/index.html.gz',
    '/ui/__proto__',
  ])('has no file %s', async (path) => {
    const { status } = await get(path, { authorization: 'Bearer secret' });
    expect(status).toBe(404);
  });

  it('is reached by a link of another site, which reaches nothing else', async () => {
    const link = {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    };
    const status = async (path: string, headers: object) =>
      (await raw(path, { ...link, ...headers })).statusCode;
    expect(await status('/ui/', {})).toBe(200);
    expect(await status('/v1/models', { authorization: 'Bearer secret' })).toBe(403);
    expect(await status('/ui/', { 'sec-fetch-dest': 'iframe' })).toBe(403);
    expect(await status('/ui/', { 'sec-fetch-mode': 'no-cors' })).toBe(403);
  });
});

/** As it is on the wire: fetch would unpack it, and send Fetch headers of its own. */
async function raw(path: string, headers: http.OutgoingHttpHeaders): Promise<http.IncomingMessage> {
  const [response] = (await once(http.get(new URL(path, served.url), { headers }), 'response')) as [
    http.IncomingMessage,
  ];
  return response;
}

async function rawBody(path: string, encoding: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await raw(path, { 'accept-encoding': encoding })) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
