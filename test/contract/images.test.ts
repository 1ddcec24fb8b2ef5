/** Images of requests in every dialect on their way to the engine: what users send, what tools found, what addresses name. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { importFile } from '../../src/store/install/import.ts';
import { writeTinyProjector } from '../../tools/models/tiny-projector.ts';
import { type ScriptedService, startScripted } from '../support/http/scripted-service.ts';
import { bmpOf, dataUrl, GIF, JPEG, stripes } from '../support/images.ts';
import { hearth } from '../support/process/hearth.ts';
import { webpOf } from '../support/webp.ts';
import { tinyModels } from '../support/tiny-models.ts';

const IMAGE = stripes(4, 4);
const WEBP = await webpOf(2, 2, () => [1, 2, 3]);
const DATA = IMAGE.toString('base64');
const URL_OF_IT = dataUrl(IMAGE);

/** Answers of the server that addresses lead to, by path. */
const answers: Record<string, RequestListener> = {
  '/image.png': (_, response) => response.writeHead(200, { 'content-type': 'image/png' }).end(IMAGE),
  '/moved': (_, response) => response.writeHead(302, { location: '/image.png' }).end(),
  '/private': (_, response) => response.writeHead(302, { location: 'https://10.0.0.1/image.png' }).end(),
  '/metadata': (_, response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
  '/around': (_, response) => response.writeHead(302, { location: '/around' }).end(),
  '/page': (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
  '/missing': (_, response) => response.writeHead(404).end(),
  '/huge': (_, response) => {
    response.writeHead(200, { 'content-type': 'image/png' });
    response.end(Buffer.alloc(20 * 1024 * 1024 + 1));
  },
};

let eyes: ScriptedService;
let fetching: ScriptedService;
let asked: string[] = [];
const origin = createServer((request, response) => {
  asked.push(request.url ?? '');
  answers[request.url ?? '']?.(request, response);
});
let at = '';

beforeAll(async () => {
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  const host = `127.0.0.1:${(origin.address() as AddressInfo).port}`;
  at = `http://${host}`;
  eyes = await withEyes(await startScripted());
  fetching = await withEyes(await startScripted({ fetchImages: true, hubHosts: [host] }));
});
beforeEach(() => {
  asked = [];
});
afterAll(async () => {
  await eyes?.close();
  await fetching?.close();
  origin.close();
});

async function withEyes(service: ScriptedService): Promise<ScriptedService> {
  const projector = path.join(service.home, 'mmproj-tiny.gguf');
  await writeTinyProjector(projector);
  await importFile(service.registry, tinyModels.chat, { id: 'eyes', projector });
  return service;
}

interface Sent {
  readonly path: string;
  readonly body: (image: string) => object;
}

const call = { id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } };
const source = (url: string) =>
  url.startsWith('data:')
    ? { type: 'base64', media_type: 'image/png', data: url.slice(url.indexOf(',') + 1) }
    : { type: 'url', url };

/** A conversation in which a tool found a word, an image and a word. */
const FOUND: Readonly<Record<string, Sent>> = {
  'chat completions': {
    path: '/v1/chat/completions',
    body: (url) => ({
      messages: [
        { role: 'user', content: 'Look.' },
        { role: 'assistant', content: null, tool_calls: [call] },
        {
          role: 'tool',
          tool_call_id: 'c',
          content: [
            { type: 'text', text: 'before' },
            { type: 'image_url', image_url: { url } },
            { type: 'text', text: 'behind' },
          ],
        },
      ],
    }),
  },
  responses: {
    path: '/v1/responses',
    body: (url) => ({
      input: [
        { role: 'user', content: 'Look.' },
        { type: 'function_call', call_id: 'c', name: 'look', arguments: '{}' },
        {
          type: 'function_call_output',
          call_id: 'c',
          output: [
            { type: 'input_text', text: 'before' },
            { type: 'input_image', image_url: url },
            { type: 'input_text', text: 'behind' },
          ],
        },
      ],
    }),
  },
  messages: {
    path: '/v1/messages',
    body: (url) => ({
      max_tokens: 4,
      messages: [
        { role: 'user', content: 'Look.' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'look', input: {} }] },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'c',
              content: [
                { type: 'text', text: 'before' },
                { type: 'image', source: source(url) },
                { type: 'text', text: 'behind' },
              ],
            },
          ],
        },
      ],
    }),
  },
};

const SAID: Readonly<Record<string, Sent>> = {
  'chat completions': {
    path: '/v1/chat/completions',
    body: (url) => ({ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] }),
  },
  responses: {
    path: '/v1/responses',
    body: (url) => ({ input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }] }),
  },
  messages: {
    path: '/v1/messages',
    body: (url) => ({
      max_tokens: 4,
      messages: [{ role: 'user', content: [{ type: 'image', source: source(url) }] }],
    }),
  },
};

async function send(service: ScriptedService, { path: route, body }: Sent, url: string, model = 'eyes') {
  const { status, headers, body: answer, text } = await service.client.post(route, { model, ...body(url) });
  return { status, headers, answer, text };
}

function lastTurn({ engine }: ScriptedService) {
  const { job } = engine.lastJob.submission;
  if (job.kind !== 'generate' || job.prompt.kind !== 'chat') throw new Error('not a chat job');
  const { role, content, media } = job.prompt.turns.at(-1) ?? {};
  return { role, content, media };
}

describe.each(Object.entries(FOUND))('an image in the result of a tool, %s', (_, sent) => {
  it('stands where the tool put it', async () => {
    const { status, headers, text } = await send(eyes, sent, URL_OF_IT);
    expect(status, text).toBe(200);
    expect(headers['x-svc-ignored-params']).toBeUndefined();
    const { role, content, media } = lastTurn(eyes);
    expect([role, content]).toEqual(['tool', 'beforebehind']);
    expect(media).toEqual([{ medium: 'image', url: URL_OF_IT, at: 'before'.length }]);
  });

  it('is a note to a model that reads text', async () => {
    const { status, text } = await send(eyes, sent, URL_OF_IT, 'tiny-chat');
    expect(status, text).toBe(200);
    expect(lastTurn(eyes)).toMatchObject({
      content: expect.stringContaining('[image not shown'),
      media: undefined,
    });
  });

  it('is a note where it is an address that nobody fetches', async () => {
    const { status, text } = await send(eyes, sent, `${at}/image.png`);
    expect(status, text).toBe(200);
    expect(lastTurn(eyes).content).toContain('[image not shown');
    expect(asked).toEqual([]);
  });

  it('is fetched with SVC_FETCH_IMAGES=1, and stays an address where that fails', async () => {
    await send(fetching, sent, `${at}/image.png`);
    expect(lastTurn(fetching).media).toMatchObject([{ url: URL_OF_IT }]);
    await send(fetching, sent, `${at}/missing`);
    expect(lastTurn(fetching).media).toMatchObject([{ url: `${at}/missing` }]);
  });
});

it('an error of a tool with an image keeps the image in its place', async () => {
  const { path: route, body } = FOUND['messages'] as Sent;
  const failed = JSON.parse(
    JSON.stringify(body(URL_OF_IT)).replace('"tool_result"', '"tool_result","is_error":true'),
  ) as object;
  const { status } = await eyes.client.post(route, { model: 'eyes', ...failed });
  expect(status).toBe(200);
  expect(lastTurn(eyes)).toMatchObject({
    content: 'Error: beforebehind',
    media: [{ at: 'Error: before'.length }],
  });
});

it('images of a tool turn of Ollama come before its words', async () => {
  const messages = [
    { role: 'user', content: 'Look.' },
    { role: 'assistant', content: '', tool_calls: [{ function: { name: 'look', arguments: {} } }] },
    { role: 'tool', content: 'seen', tool_name: 'look', images: [DATA] },
  ];
  const { status, text } = await eyes.client.post('/api/chat', { model: 'eyes', stream: false, messages });
  expect(status, text).toBe(200);
  expect(lastTurn(eyes)).toEqual({
    role: 'tool',
    content: 'seen',
    media: [{ medium: 'image', url: URL_OF_IT, at: 0 }],
  });
});

describe.each(Object.entries(SAID))('an address in the place of an image, %s', (_, sent) => {
  it('is refused by name, and nothing is fetched', async () => {
    const { status, text } = await send(eyes, sent, `${at}/image.png`);
    expect([status, text]).toEqual([400, expect.stringContaining('SVC_FETCH_IMAGES=1')]);
    expect(asked).toEqual([]);
  });

  it.each(['/image.png', '/moved'])('is fetched with SVC_FETCH_IMAGES=1: %s', async (route) => {
    const { status, text } = await send(fetching, sent, at + route);
    expect(status, text).toBe(200);
    expect(lastTurn(fetching).media).toEqual([{ medium: 'image', url: URL_OF_IT, at: 0 }]);
  });
});

describe('hearth run --image', () => {
  const run = async (service: ScriptedService, ...args: string[]) =>
    hearth(['run', ...args], { SVC_HOME: service.home, SVC_PORT: new URL(service.url).port });
  const file = async (name: string, bytes: Buffer): Promise<string> => {
    const at = path.join(eyes.home, name);
    await writeFile(at, bytes);
    return at;
  };

  it.each([
    ['png', IMAGE],
    ['jpeg', JPEG],
    ['gif', GIF],
    ['bmp', bmpOf(2, 2)],
    ['webp', WEBP],
  ])('sends a %s file after the question, whatever its name says', async (type, bytes) => {
    const first = await file('image.txt', bytes);
    const { code, stderr } = await run(eyes, 'eyes', '--image', first, '--image', first, 'What is it?');
    expect([code, stderr]).toEqual([0, '']);
    const url = dataUrl(bytes, type);
    expect(lastTurn(eyes)).toEqual({
      role: 'user',
      content: 'What is it?',
      media: [url, url].map((each) => ({ medium: 'image', url: each, at: 'What is it?'.length })),
    });
  });

  it('ends with 2 where there is nothing to look at or nothing to ask, and sends nothing', async () => {
    const text = await file('text.png', Buffer.from('hello'));
    const none = await run(eyes, 'eyes', '--image', text, 'What is it?');
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('text.png is not an image')]);
    const missing = await run(eyes, 'eyes', '--image', `${text}.gone`, 'What is it?');
    expect([missing.code, missing.stderr]).not.toEqual([0, '']);
    expect(missing.stderr).toContain('text.png.gone');
    const unasked = await run(eyes, 'eyes', '--image', await file('image.png', IMAGE));
    expect([unasked.code, unasked.stderr]).toEqual([2, expect.stringMatching(/question|nothing to ask/)]);
  });

  it('says that a model reads text', async () => {
    const image = await file('image.png', IMAGE);
    const { code, stderr } = await run(eyes, 'tiny-chat', '--image', image, 'What is it?');
    expect(code).not.toBe(0);
    expect(stderr).toContain('name a model that reads images');
  });
});

describe('an address that is not fetched', () => {
  const chat = SAID['chat completions'] as Sent;

  it.each([
    ['/private', 'private network'],
    ['/metadata', 'not encrypted'],
    ['/around', 'redirects more than'],
    ['/page', 'no image'],
    ['/missing', 'answered 404'],
    ['/huge', 'more than 20971520 bytes'],
  ])('%s is a 400 that says why', async (route, reason) => {
    const { status, answer } = await send(fetching, chat, at + route);
    expect([status, answer.code]).toEqual([400, 'image_unusable']);
    expect(answer.error).toContain(reason);
    expect(answer.error).toContain('data URL');
  });

  it.each([
    ['of this machine', 'https://127.0.0.1/image.png'],
    ['of this machine by name', 'https://localhost/image.png'],
    ['of a private network', 'https://192.168.0.1/image.png'],
    ['without encryption', 'http://192.0.2.1/image.png'],
    ['with credentials', 'https://me:secret@127.0.0.1/image.png'],
  ])('one %s is refused', async (_, url) => {
    const { status, answer } = await send(fetching, chat, url);
    expect([status, answer.code]).toEqual([400, 'image_unusable']);
  });

  it('one of another kind is no image', async () => {
    const { status, text } = await send(fetching, chat, 'file:///etc/passwd');
    expect([status, text]).toEqual([400, expect.stringContaining('data URL')]);
  });

  it('more than 16 of them are too many, and none is fetched', async () => {
    const content = Array.from({ length: 17 }, (_, n) => ({
      type: 'image_url',
      image_url: { url: `${at}/image.png?${n}` },
    }));
    const { status, body } = await fetching.client.post('/v1/chat/completions', {
      model: 'eyes',
      messages: [{ role: 'user', content }],
    });
    expect([status, body.code, asked]).toEqual([400, 'images_too_many', []]);
  });
});
