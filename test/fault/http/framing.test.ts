/**
 * Bytes that are not quite HTTP. Each is refused and the connection closed, or served as what it plainly is;
 * a request hidden inside another is never executed. Where Node's parser is lenient, its behaviour is pinned here.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { METHODS } from 'node:http';
import net from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { exchange } from '../../support/http/raw-exchange.ts';
import { done, forEver, gate, started, text } from '../../support/http/scripted-engine.ts';
import { scriptedService } from '../../support/http/scripted-service.ts';

const service = scriptedService();

const body = '{"model":"default","messages":[{"role":"user","content":"x"}]}';
const json = 'Host: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n';
const kept = json.replace('Connection: close\r\n', '');
const chat = 'POST /v1/chat/completions HTTP/1.1\r\n';
const get = 'GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n';
const sized = `Content-Length: ${body.length}\r\n`;
const chunk = `${body.length.toString(16)}\r\n${body}\r\n`;
/** What a smuggler hides: if it were executed, the engine would have been told to unload. */
const hiddenBody = '{"model":"default"}';
const hidden = `POST /svc/unload HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${hiddenBody.length}\r\n\r\n${hiddenBody}`;
const asChunks = `${json}Transfer-Encoding: chunked\r\n\r\n`;

afterEach(async () => {
  expect(service.engine.unloaded, 'a hidden request was executed').toEqual([]);
  expect((await service.client.get('/health')).status).toBe(200);
});

async function statusesOf(...pieces: (string | Buffer)[]): Promise<number[]> {
  const jobs = service.engine.played.length;
  const { answers, rest } = await exchange(service.port, pieces);
  expect(rest, 'bytes after the last answer').toBe('');
  for (const { status, headers, body } of answers) {
    if (status < 400) continue;
    expect(headers).toMatchObject({
      server: 'hearth/1.2',
      'x-request-id': expect.stringMatching(/^(?:req_[0-9a-f-]{36}|mine)$/),
      'x-svc-instance-id': service.instanceId,
      'x-svc-boot-id': service.bootId,
    });
    expect((JSON.parse(body) as { error: unknown }).error).toMatch(/^\S.+[.]$/);
  }
  const statuses = answers.map(({ status }) => status);
  if (!statuses.includes(200)) expect(service.engine.played.length, 'jobs of a refused request').toBe(jobs);
  return statuses;
}

/** A streamed answer on a bare connection that stays open for more. */
function underWay() {
  const streamed = body.replace(/}$/, ',"stream":true}');
  const socket = net.connect(service.port, '127.0.0.1');
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const stream = { socket, closed, received: '', says };
  socket.on('data', (chunk) => {
    stream.received += String(chunk);
  });
  async function says(words: string): Promise<void> {
    while (!stream.received.includes(words)) await once(socket, 'data');
  }
  socket.write(`${chat}${kept}Content-Length: ${streamed.length}\r\n\r\n${streamed}`);
  return stream;
}

describe('a length that is not plain', () => {
  it.each([
    ['twice, the same', `${sized}${sized}`],
    ['twice, different', `${sized}Content-Length: 5\r\n`],
    ['twice in one line', `Content-Length: ${body.length}, ${body.length}\r\n`],
    ['with a plus', `Content-Length: +${body.length}\r\n`],
    ['negative', 'Content-Length: -1\r\n'],
    ['hexadecimal', `Content-Length: 0x${body.length.toString(16)}\r\n`],
    ['with a fraction', `Content-Length: ${body.length}.0\r\n`],
    ['with an exponent', 'Content-Length: 1e2\r\n'],
    ['empty', 'Content-Length: \r\n'],
    ['in words', 'Content-Length: many\r\n'],
    ['beyond 2^64', 'Content-Length: 99999999999999999999\r\n'],
    ['with a space inside', 'Content-Length: 6 2\r\n'],
    ['beside chunks', `${sized}Transfer-Encoding: chunked\r\n`],
    ['after chunks', `Transfer-Encoding: chunked\r\n${sized}`],
  ])('(%s) is refused', async (_, header) => {
    expect(await statusesOf(`${chat}${json}${header}\r\n${body}`)).toEqual([400]);
  });

  it('above the limit is refused before the body is sent', async () => {
    const head = `${chat}${json}Content-Length: 1073741824\r\n\r\n`;
    expect(await statusesOf(head)).toEqual([413]);
  });
});

describe('an encoding that is not plain', () => {
  it.each([
    ['xchunked', 'Transfer-Encoding: xchunked\r\n'],
    ['chunked, identity', 'Transfer-Encoding: chunked, identity\r\n'],
    ['identity', 'Transfer-Encoding: identity\r\n'],
    ['gzip', 'Transfer-Encoding: gzip\r\n'],
    ['chunked twice', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n'],
    ['chunked, chunked', 'Transfer-Encoding: chunked, chunked\r\n'],
    ['a vertical tab', 'Transfer-Encoding: \x0bchunked\r\n'],
    ['a space before the colon', 'Transfer-Encoding : chunked\r\n'],
    ['a line fold', 'Transfer-Encoding:\r\n chunked\r\n'],
  ])('(%s) never runs what is hidden behind it', async (_, header) => {
    const statuses = await statusesOf(`${chat}${json}${header}\r\n0\r\n\r\n${hidden}`);
    expect(statuses).toEqual([400]);
  });

  it.each([
    ['a size beyond 2^64', `FFFFFFFFFFFFFFFFFF\r\n${body}\r\n0\r\n\r\n`],
    ['a negative size', `-1\r\n${body}\r\n0\r\n\r\n`],
    ['a size with 0x', `0x${chunk}0\r\n\r\n`],
    ['a size with a plus', `+${chunk}0\r\n\r\n`],
    ['no size', `\r\n${body}\r\n0\r\n\r\n`],
    ['no line break after the data', `${body.length.toString(16)}\r\n${body}0\r\n\r\n`],
    ['a bare line feed after the size', `${body.length.toString(16)}\n${body}\r\n0\r\n\r\n`],
    ['an extension with a bare carriage return', `${body.length.toString(16)};a=\rb\r\n${body}\r\n0\r\n\r\n`],
    ['an extension of 20 KiB', `${body.length.toString(16)};a=${'b'.repeat(20_000)}\r\n${body}\r\n0\r\n\r\n`],
    ['a length in its trailers', `${chunk}0\r\nContent-Length: 7\r\n\r\n`],
    ['a trailer without a colon', `${chunk}0\r\nX\r\n\r\n`],
  ])('in chunks with %s is refused', async (_, chunks) => {
    const [status] = await statusesOf(`${chat}${asChunks}${chunks}`);
    expect([400, 413]).toContain(status);
  });

  it.each([
    ['one chunk', `${chunk}0\r\n\r\n`],
    ['an extension', `${body.length.toString(16)};note=1\r\n${body}\r\n0\r\n\r\n`],
    ['trailers', `${chunk}0\r\nX-A: b\r\nX-B: c\r\n\r\n`],
    ['a chunk per byte', `${[...body].map((byte) => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`],
  ])('in proper chunks (%s) is served', async (_, chunks) => {
    expect(await statusesOf(`${chat}${asChunks}${chunks}`)).toEqual([200]);
  });

  it('in endless chunks is refused at the limit', async () => {
    const mebibyte = `100000\r\n${'x'.repeat(1 << 20)}\r\n`;
    const { answers } = await exchange(service.port, [
      `${chat}${asChunks}`,
      ...Array.from({ length: 9 }, () => mebibyte),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([413]);
  });
});

describe('a header that is not plain', () => {
  it.each([
    ['a bare carriage return', 'X-A: b\rc\r\n'],
    ['a NUL in its value', 'X-A: b\0c\r\n'],
    ['a NUL in its name', 'X\0A: b\r\n'],
    ['a control character', 'X-A: b\x01c\r\n'],
    ['a delete character', 'X-A: b\x7fc\r\n'],
    ['a space before the colon', 'X-A : b\r\n'],
    ['no colon', 'X-A\r\n'],
    ['no name', ': b\r\n'],
    ['brackets in its name', 'X(A): b\r\n'],
    ['a space in its name', 'X A: b\r\n'],
  ])('(%s) is refused', async (_, header) => {
    expect(await statusesOf(`${get}${header}\r\n`)).toEqual([400]);
  });

  it.each([
    ['before the first', 'GET /health HTTP/1.1\r\n X: y\r\nHost: localhost\r\n\r\n'],
    ['after the first', `${get}X-A: b\r\n c\r\n\r\n`],
  ])('folded over lines %s is refused, or read as one value', async (_, bytes) => {
    const [status] = await statusesOf(bytes);
    expect([200, 400]).toContain(status);
  });

  it.each([
    ['one of 20 KiB', `X-A: ${'b'.repeat(20_000)}\r\n`],
    ['thousands', Array.from({ length: 3000 }, (_, at) => `X-${at}: b\r\n`).join('')],
  ])('too large (%s) is refused with 431', async (_, header) => {
    expect(await statusesOf(`${get}${header}\r\n`)).toEqual([431]);
  });

  it('beyond the hundredth is refused, not dropped in silence', async () => {
    const many = Array.from({ length: 120 }, (_, at) => `X-${at}: b\r\n`).join('');
    expect(await statusesOf(`${get}${many}\r\n`)).toEqual([400]);
    expect(await statusesOf(`${get}${many}Origin: http://evil.test\r\n\r\n`)).toEqual([400]);
  });

  it('named __proto__ a thousand times harms nobody', async () => {
    const [status] = await statusesOf(`${get}${'__proto__: x\r\n'.repeat(60)}\r\n`);
    expect(status).toBe(200);
  });
});

describe('a request line that is not plain', () => {
  it.each([
    ['HTTP/1.2', 'GET /health HTTP/1.2\r\nHost: localhost\r\n\r\n'],
    ['HTTP/3.0', 'GET /health HTTP/3.0\r\nHost: localhost\r\n\r\n'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['its method and another target', 'PRI /health HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['its method and no space', 'PRI *%HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a lower-case protocol', 'GET /health http/1.1\r\nHost: localhost\r\n\r\n'],
    ['a lower-case method', 'get /health HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['an unknown method', 'FROB /health HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['a tab', 'GET\t/health\tHTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['a NUL in the path', 'GET /hea\0lth HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['a space in the path', 'GET /hea lth HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['words before it', `hello\r\n${get}\r\n`],
    ['a byte order mark', `\xef\xbb\xbf${get}\r\n`],
    ['the hello of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['nothing but zeros', '\0'.repeat(64)],
  ])('(%s) is refused', async (_, bytes) => {
    expect(await statusesOf(bytes)).toEqual([400]);
  });

  it.each([
    ['a path of 20 KiB', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`, [431]],
    ['empty lines before it', `\r\n\r\n${get}\r\n`, [200]],
    ['a question mark and a fragment', get.replace('/health', '/health?a#b'), [200]],
    ['no version, so no Host either', 'GET /health\r\n\r\n', [403]],
    ['HTTP/0.9', 'GET /health HTTP/0.9\r\nHost: localhost\r\n\r\n', [200]],
    ['HTTP/1.0', 'GET /health HTTP/1.0\r\nHost: localhost\r\n\r\n', [200]],
    ['no Host', 'GET /health HTTP/1.1\r\nConnection: close\r\n\r\n', [403]],
    ['a star', `OPTIONS * HTTP/1.1\r\n${kept}Connection: close\r\n`, [404, 405]],
    ['TRACE', `TRACE /health HTTP/1.1\r\n${kept}Connection: close\r\n`, [405]],
    ['bytes that are no ASCII', get.replace('/health', '/h\xe9alth'), [400, 404]],
  ])('(%s) is answered plainly', async (_, bytes, expected) => {
    const [status] = await statusesOf(`${bytes}${bytes.endsWith('\r\n\r\n') ? '' : '\r\n'}`);
    expect(expected).toContain(status);
  });

  it.each(METHODS.filter((method) => method !== 'CONNECT'))(
    'with the method %s is no bug',
    async (method) => {
      const [status] = await statusesOf(`${method} /health HTTP/1.1\r\n${json}\r\n`);
      expect(status).toBeLessThan(500);
    },
  );

  it('that opens a tunnel gets none', async () => {
    const { answers } = await exchange(service.port, [
      'CONNECT example.test:443 HTTP/1.1\r\nHost: example.test:443\r\n\r\n',
    ]);
    expect(answers.filter(({ status }) => status < 400)).toEqual([]);
  });

  it.each(['websocket', 'h2c'])('that asks to upgrade to %s is answered in HTTP/1.1', async (protocol) => {
    const upgrade = `Connection: Upgrade, close\r\nUpgrade: ${protocol}\r\n`;
    const statuses = await statusesOf(`GET /health HTTP/1.1\r\nHost: localhost\r\n${upgrade}\r\n`);
    expect(statuses).toEqual([200]);
  });
});

describe('requests behind each other', () => {
  it('are answered in their order', async () => {
    const first = 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const second = 'GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n';
    expect(await statusesOf(`${first}${second}${get}\r\n`)).toEqual([200, 404, 200]);
  });

  it('end at the first that is broken', async () => {
    const first = 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const statuses = await statusesOf(`${first}broken\r\n\r\n${first}`);
    // Whether the first answer is out before the broken bytes are read is a matter of timing; nothing follows them.
    expect([[200, 400], [400], [], [200]]).toContainEqual(statuses);
  });

  it('after a body that was refused are not executed', async () => {
    const { answers } = await exchange(service.port, [`${chat}${kept}${sized}${sized}\r\n${body}${hidden}`]);
    expect(answers.map(({ status }) => status)).toEqual([400]);
  });

  it('are answered in their order if one has an unknown expectation', async () => {
    const refused = `${chat}${json}Expect: a-miracle\r\n${sized}\r\n${body}`;
    expect(await statusesOf(`${chat}${kept}${sized}\r\n${body}${refused}`)).toEqual([200, 417]);
    const rest = gate();
    service.engine.plays([started(), text('half'), rest.opened, text(' and half'), done()]);
    const stream = underWay();
    await stream.says('half');
    await new Promise<void>((written) => stream.socket.write(refused, () => written()));
    rest.open();
    await stream.closed;
    expect(stream.received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 417']);
    expect(stream.received).toContain('\r\n0\r\n\r\nHTTP/1.1 417 ');
  });

  it.each([
    ['are broken', '\0\0\0 broken\r\n\r\n'],
    ['have a length twice', `${chat}${kept}${sized}${sized}\r\n${body}`],
    ['have too many headers', `${get}X-A: ${'b'.repeat(20_000)}\r\n\r\n`],
  ])('that %s do not write into a stream that is under way', async (_, bytes) => {
    service.engine.plays([started(), text('half'), forEver()]);
    const stream = underWay();
    await stream.says('half');
    stream.socket.write(bytes);
    await stream.closed;
    expect(stream.received.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(await service.engine.lastJob.ended).toBe('aborted');
  });
});

describe('a request in small pieces', () => {
  it('of one byte each is served', async () => {
    const bytes = `${chat}${json}${sized}\r\n${body}`;
    expect(await statusesOf(...bytes)).toEqual([200]);
  });

  it('that ends too early is refused', async () => {
    const halves = [`${chat}${json}Content-Length: 1000\r\n\r\n${body}`, 'GET /health HTTP/1.1\r\nHost: loc'];
    for (const half of halves) {
      const { answers } = await exchange(service.port, [half], { halfClose: true });
      expect(answers.map(({ status }) => status)).toEqual([400]);
    }
  });

  it.each([
    [431, 'headers_too_large', `${get}X-A: ${'b'.repeat(20_000)}\r\n\r\n`],
    [417, 'unknown_expectation', `${chat}${json}Expect: a-miracle\r\n${sized}\r\n${body}`],
    [400, 'bad_request', `hello\r\n${get}\r\n`],
  ])(
    'that is refused with %d before it is read has the body of every error, as documented',
    async (status, code, bytes) => {
      const { answers } = await exchange(service.port, [bytes]);
      const answer = JSON.parse(answers[0]?.body ?? '');
      expect([answers[0]?.status, answer.code]).toEqual([status, code]);
      expect(answer).toEqual({
        error: answer.message,
        message: expect.any(String),
        type: 'invalid_request_error',
        code,
      });
      expect(answers[0]?.headers['x-should-retry']).toBe('false');
      expect(readFileSync('docs/errors.md', 'utf8')).toContain(`| \`${code}\` | ${status} |`);
    },
  );

  it('that waits for 100-continue is told to go on, or not to', async () => {
    const expecting = `${json}Expect: 100-continue\r\n`;
    expect(await statusesOf(`${chat}${expecting}${sized}\r\n`, body)).toEqual([100, 200]);
    const unknown = `${chat}${json}X-Request-Id: mine\r\nExpect: a-miracle\r\n${sized}\r\n${body}`;
    expect(await statusesOf(unknown)).toEqual([417]);
    const { answers } = await exchange(service.port, [unknown]);
    expect(answers[0]?.headers['x-request-id']).toBe('mine');
  });
});
