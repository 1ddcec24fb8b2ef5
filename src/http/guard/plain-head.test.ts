import { createServer, type IncomingMessage } from 'node:http';
import { duplexPair } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPlainHead } from './plain-head.ts';

const LIMITS = { maxBytes: 16_384, maxHeaders: 100 };
const read = (text: string) => readPlainHead(Buffer.from(text, 'latin1'), LIMITS);
const USUAL = 'POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n';

describe('a head', () => {
  it('is read where nothing about it is unusual', () => {
    expect(read(`${USUAL}X-Two: b c\r\n\r\n{}`)).toEqual({
      method: 'POST',
      url: '/v1/chat/completions',
      headers: { host: 'a', 'content-length': '2', 'x-two': 'b c' },
      rawHeaders: ['Host', 'a', 'Content-Length', '2', 'X-Two', 'b c'],
      headBytes: USUAL.length + 'X-Two: b c\r\n\r\n'.length,
      bodyBytes: 2,
    });
  });

  it.each([
    ['half of one', USUAL],
    ['a header twice', `${USUAL}host: b\r\n\r\n`],
    ['two lengths', `${USUAL}Content-Length: 2\r\n\r\n`],
    ['chunks', `${USUAL}Transfer-Encoding: chunked\r\n\r\n`],
    ['no length', 'POST / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a length with a sign', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +2\r\n\r\n'],
    ['a question first', `${USUAL}Expect: 100-continue\r\n\r\n`],
    ['another protocol', `${USUAL}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n`],
    ['another version', USUAL.replace('1.1', '1.0') + '\r\n'],
    ['a whole URL', USUAL.replace('/v1', 'http://evil/v1') + '\r\n'],
    ['a folded header', `${USUAL}X: a\r\n b\r\n\r\n`],
    ['a space before the colon', `${USUAL}X : a\r\n\r\n`],
    ['bare line feeds', `${USUAL.replaceAll('\r\n', '\n')}\n`],
    ['a carriage return within', `${USUAL}X: a\rb\r\n\r\n`],
    [
      'more headers than may be',
      `${USUAL}${Array.from({ length: 99 }, (_, at) => `X${at}: a\r\n`).join('')}\r\n`,
    ],
    ['more bytes than may be', `${USUAL}X: ${'a'.repeat(17_000)}\r\n\r\n`],
  ])('is left to node:http with %s', (_, text) => {
    expect(read(text)).toBeNull();
  });

  it('is read as node:http reads it, or not at all', async () => {
    const part = fc.constantFrom(
      'POST ',
      'GET ',
      ' HTTP/1.1',
      ' HTTP/1.0',
      '\r\n',
      '\n',
      '\r',
      ' ',
      ': ',
      'Host: a\r\n',
      'Content-Length: 2\r\n',
      'Content-Length: 0\r\n',
      'content-length:1\r\n',
      'X-A: b',
      '\u0000',
      'é',
      'Transfer-Encoding: chunked\r\n',
      'Cookie: a=b\r\n',
      'Connection: close\r\n',
      'X_Y: 1\r\n',
      '{}',
    );
    const start = fc.constantFrom('', 'POST /a HTTP/1.1\r\n', USUAL);
    let bothRead = 0;
    await fc.assert(
      fc.asyncProperty(start, fc.array(part, { maxLength: 8 }), async (first, parts) => {
        const text = `${first}${parts.join('')}\r\n\r\n{}`;
        const ours = read(text);
        if (ours === null) return;
        const { method, url, headers, rawHeaders } = await byNode(text);
        expect({ ...ours.headers, ...ours, headers: undefined }).toMatchObject({ method, url, ...headers });
        expect(ours.rawHeaders).toEqual(rawHeaders);
        bothRead += 1;
      }),
      { numRuns: 600, seed: 7 },
    );
    expect(bothRead).toBeGreaterThan(30);
  });
});

/** What node:http makes of the same bytes; it is an error if it refuses them. */
function byNode(text: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const [client, socket] = duplexPair();
    const server = createServer({ requireHostHeader: false }, (request) => resolve(request));
    server.on('clientError', (error) => reject(new Error(`${error.message}: ${JSON.stringify(text)}`)));
    server.emit('connection', socket);
    client.write(Buffer.from(text, 'latin1'));
  });
}
