/** A service whose model has eyes: images by every dialect and by unmodified clients, and what it says of itself. */
import Anthropic from '@anthropic-ai/sdk';
import { Ollama } from 'ollama';
import OpenAI from 'openai';
import { mkdtemp, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { IMAGE_TOKENS, writeTinyProjector } from '../../tools/models/tiny-projector.ts';
import { AUDIO_ROWS, writeTinyAudio } from '../../tools/models/tiny-audio.ts';
import { writeTinyChat } from '../../tools/models/tiny-chat.ts';
import { HttpClient } from '../support/http/http-client.ts';
import { bmpOf, dataUrl, GIF, JPEG, pngWith, stripes, stripesOf } from '../support/images.ts';
import { flacOf, mp3Of, wavOf } from '../support/audio.ts';
import { webpOf } from '../support/webp.ts';
import { endProcess, hearth, readyUrl, type Settings, startHearth } from '../support/process/hearth.ts';

const libraries = inject('mediaLibraries');
const IMAGE = stripes(48, 48);
/** Of the same picture, though not exactly. */
const WEBP = await webpOf(48, 48, stripesOf(0));
const SPEECH = wavOf({ seconds: 0.5 });
/** Not in the types of every client. */
const GREEDY = { temperature: 0 };

interface Service {
  readonly url: string;
  readonly client: HttpClient;
  close(): Promise<void>;
}

async function serve(home: string, more: Settings = {}): Promise<Service> {
  const child = startHearth(['serve'], {
    SVC_HOME: home,
    SVC_PORT: '0',
    SVC_NUM_THREADS: '1',
    SVC_LOG_LEVEL: 'warn',
    ...more,
  });
  const url = await readyUrl(child);
  return { url, client: new HttpClient(url), close: () => endProcess(child).then(() => undefined) };
}

const asked = (...content: object[]) => ({
  model: 'eyes',
  max_tokens: 4,
  temperature: 0,
  messages: [{ role: 'user' as const, content }],
});
const words = { type: 'text', text: 'Look at this: ' };
const shown = (url: string) => ({ type: 'image_url', image_url: { url } });

describe.skipIf(libraries === null)('a service with eyes', () => {
  let folder: string;
  let home: string;
  let service: Service;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'hearth-eyes-service-'));
    home = path.join(folder, 'svc');
    await mkdir(home);
    await symlink(libraries ?? '', path.join(home, 'libraries'));
    const [model, projector] = [path.join(folder, 'tiny.gguf'), path.join(folder, 'mmproj.gguf')];
    await writeTinyChat(model, { contextLength: 4096 });
    await writeTinyProjector(projector);
    const env = { SVC_HOME: home };
    const eyes = await hearth(['import', model, '--id', 'eyes', '--projector', projector], env);
    expect([eyes.code, eyes.stderr]).toEqual([0, expect.stringContaining('eyes is installed')]);
    const ears = path.join(folder, 'mmproj-ears.gguf');
    await writeTinyAudio(ears);
    const hearing = await hearth(['import', model, '--id', 'ears', '--projector', ears], env);
    expect(hearing.code, hearing.stderr).toBe(0);
    const blind = await hearth(['import', model, '--id', 'blind'], env);
    expect(blind.code, blind.stderr).toBe(0);
    service = await serve(home);
  });
  afterAll(async () => {
    await service?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('says which model reads images', async () => {
    const { stdout } = await hearth(['show', 'eyes'], { SVC_HOME: home });
    expect(stdout).toMatch(/^reads +text, images; projector gemma3$/m);
    const { body } = await service.client.get('/v1/models');
    const list = body.data as { readonly id: string; readonly capabilities: readonly string[] }[];
    expect(list.filter(({ capabilities }) => capabilities.includes('vision')).map(({ id }) => id)).toEqual([
      'eyes',
    ]);
  });

  it.each([
    ['PNG', dataUrl(IMAGE)],
    ['JPEG', dataUrl(JPEG, 'jpeg')],
    ['GIF', dataUrl(GIF, 'gif')],
    ['BMP', dataUrl(bmpOf(9, 7), 'bmp')],
    ['WebP', dataUrl(WEBP, 'webp')],
  ])('counts a %s with the prompt, each for itself', async (_, url) => {
    const tokens = async (...images: object[]): Promise<number> => {
      const { status, body } = await service.client.chat(asked(words, ...images));
      expect(status, JSON.stringify(body)).toBe(200);
      return body.usage.prompt_tokens;
    };
    const [none, one, two] = [await tokens(), await tokens(shown(url)), await tokens(shown(url), shown(url))];
    expect(one - none).toBeGreaterThanOrEqual(IMAGE_TOKENS);
    expect(two - one).toBe(one - none);
  });

  it('takes images from the unmodified openai, Anthropic and Ollama clients, and says the same to all', async () => {
    const openai = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: 'x', maxRetries: 0 });
    const text = 'What do you see?';
    const url = dataUrl(IMAGE);
    const chat = await openai.chat.completions.create({
      ...asked({ type: 'text', text }, shown(url)),
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text },
            { type: 'image_url', image_url: { url } },
          ],
        },
      ],
    });
    const said = chat.choices[0]?.message.content ?? '';
    expect(said).not.toBe('');
    const stream = await openai.chat.completions.create({
      model: 'eyes',
      max_tokens: 4,
      temperature: 0,
      stream: true,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text },
            { type: 'image_url', image_url: { url } },
          ],
        },
      ],
    });
    let streamed = '';
    for await (const chunk of stream) streamed += chunk.choices[0]?.delta.content ?? '';
    expect(streamed).toBe(said);
    const response = await openai.responses.create({
      model: 'eyes',
      max_output_tokens: 4,
      temperature: 0,
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text },
            { type: 'input_image', image_url: url, detail: 'auto' },
          ],
        },
      ],
    });
    expect(response.output_text).toBe(said);
    const anthropic = new Anthropic({ baseURL: service.url, apiKey: 'x', maxRetries: 0 });
    const data = IMAGE.toString('base64');
    const message = await anthropic.messages.create({
      model: 'eyes',
      max_tokens: 4,
      ...GREEDY,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
          ],
        },
      ],
    });
    expect(message.content[0]).toMatchObject({ type: 'text', text: said });
    const ollama = new Ollama({ host: service.url });
    const answer = await ollama.chat({
      model: 'eyes',
      messages: [{ role: 'user', content: text, images: [data] }],
      options: { num_predict: 4, temperature: 0 },
    });
    expect(answer.prompt_eval_count).toBe(chat.usage?.prompt_tokens);
  });

  it('takes images from hearth run, and prints what the API answers', async () => {
    const files = { 'first.png': IMAGE, 'second.webp': WEBP };
    for (const [name, bytes] of Object.entries(files)) await writeFile(path.join(folder, name), bytes);
    const names = Object.keys(files).flatMap((name) => ['--image', path.join(folder, name)]);
    const settings = { SVC_HOME: home, SVC_PORT: new URL(service.url).port };
    const asks = ['run', 'eyes', ...names, 'What is it?', '--temperature', '0', '--max-tokens', '4'];
    const { code, stdout, stderr } = await hearth(asks, settings);
    expect(code, stderr).toBe(0);
    const parts = [
      { type: 'text', text: 'What is it?' },
      shown(dataUrl(IMAGE)),
      shown(dataUrl(WEBP, 'webp')),
    ];
    const { body } = await service.client.chat(asked(...parts));
    expect(stdout).toBe(`${body.choices[0].message.content}\n`);
    expect(body.usage.prompt_tokens_details.cached_tokens).toBeGreaterThan(2 * IMAGE_TOKENS);
  });

  it('goes on with a conversation about an image without reading it again, also after a restart', async () => {
    const story = 'tell me about the small house and the sea and the time '.repeat(12);
    const ask = async (text: string) => {
      const question = asked({ type: 'text', text: story }, shown(dataUrl(stripes(40, 40, 5))), {
        type: 'text',
        text,
      });
      const { status, body } = await service.client.chat(question);
      expect(status, JSON.stringify(body)).toBe(200);
      const { prompt_tokens: all, prompt_tokens_details: details } = body.usage;
      return { all, cached: details.cached_tokens, text: body.choices[0].message.content };
    };
    const first = await ask('What is it?');
    const again = await ask('Which colour?');
    // Fewer than the words behind the image and the image.
    expect(again.all - again.cached).toBeLessThan(2 * IMAGE_TOKENS);
    await service.close();
    service = await serve(home);
    const later = await ask('What is it?');
    expect(later.text).toBe(first.text);
    expect(later.all - later.cached).toBeLessThan(2 * IMAGE_TOKENS);
  });

  it.each([
    ['damaged', dataUrl(IMAGE.subarray(0, 60)), 'image_unusable'],
    ['too large', dataUrl(pngWith(30_000, 30_000, Buffer.from('x'))), 'image_unusable'],
    ['a damaged WebP', dataUrl(WEBP.subarray(0, 60), 'webp'), 'image_unusable'],
    ['HEIC', dataUrl(Buffer.from('....ftypheic'), 'heic'), 'image_unusable'],
  ])('refuses an image that is %s, by name', async (_, url, code) => {
    const { status, body } = await service.client.chat(asked(words, shown(url)));
    expect([status, body.code]).toEqual([400, code]);
    expect((await service.client.chat(asked(words))).status).toBe(200);
  });

  it.each([
    ['an address', shown('http://127.0.0.1:1/cat.png')],
    [
      'audio where nothing hears',
      { type: 'input_audio', input_audio: { data: SPEECH.toString('base64'), format: 'wav' } },
    ],
  ])('refuses %s, and fetches nothing', async (_, part) => {
    const { status, body } = await service.client.chat(asked(words, part));
    expect([status, body.param]).toEqual([400, expect.stringContaining('messages[0].content[1]')]);
  });

  it('refuses images at a model without a projector, and in a record', async () => {
    const blind = await service.client.chat({ ...asked(words, shown(dataUrl(IMAGE))), model: 'blind' });
    expect([blind.status, blind.body.param]).toEqual([400, 'messages[0].content[1]']);
    const frozen = await service.client.post('/v1/chat/completions', asked(words, shown(dataUrl(IMAGE))), {
      'X-Svc-Evidence-Mode': 'frozen-v1',
    });
    expect([frozen.status, frozen.body.code]).toEqual([503, 'evidence_unavailable']);
  });

  it('takes audio from the unmodified openai and Ollama clients and from hearth run, and says the same to all', async () => {
    const text = 'What is said?';
    const data = SPEECH.toString('base64');
    const openai = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: 'x', maxRetries: 0 });
    const limits = { model: 'ears', max_tokens: 4, temperature: 0 };
    const chat = await openai.chat.completions.create({
      ...limits,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text },
            { type: 'input_audio', input_audio: { data, format: 'wav' } },
          ],
        },
      ],
    });
    const said = chat.choices[0]?.message.content ?? '';
    expect(chat.usage?.prompt_tokens).toBeGreaterThan(AUDIO_ROWS.ultravox);
    const { body } = await service.client.post('/v1/responses', {
      model: 'ears',
      max_output_tokens: 4,
      temperature: 0,
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text },
            { type: 'input_audio', input_audio: { data, format: 'wav' } },
          ],
        },
      ],
    });
    expect(body.output[0].content[0].text).toBe(said);
    const ollama = new Ollama({ host: service.url });
    const answer = await ollama.chat({
      model: 'ears',
      messages: [{ role: 'user', content: text, images: [data] }],
      options: { num_predict: 4, temperature: 0 },
    });
    expect(answer.prompt_eval_count).toBe(chat.usage?.prompt_tokens);
    const file = path.join(folder, 'speech.wav');
    await writeFile(file, SPEECH);
    const settings = { SVC_HOME: home, SVC_PORT: new URL(service.url).port };
    const asks = ['run', 'ears', '--audio', file, text, '--temperature', '0', '--max-tokens', '4'];
    const { code, stdout } = await hearth(asks, settings);
    expect([code, stdout]).toEqual([0, `${said}\n`]);
  });

  it('refuses audio whose header claims more than there is memory for, and goes on', async () => {
    const huge = flacOf({ seconds: 0.2, frames: 2 ** 36 - 1 });
    const heard = (file: Buffer) => ({
      ...asked(words, {
        type: 'input_audio',
        input_audio: { data: file.toString('base64'), format: 'flac' },
      }),
      model: 'ears',
    });
    const { status, body } = await service.client.chat(heard(huge));
    expect([status, body.code]).toEqual([400, 'audio_unusable']);
    const lying = await service.client.chat(heard(mp3Of({ seconds: 0.2, claimed: 2 ** 32 - 1 })));
    expect(lying.status, JSON.stringify(lying.body)).toBe(200);
  });

  it('reads images in a sealed worker', async () => {
    await service.close();
    service = await serve(home, { SVC_SEALED: '1' });
    const { status, body } = await service.client.chat(
      asked(words, shown(dataUrl(IMAGE)), shown(dataUrl(WEBP, 'webp'))),
    );
    expect(status, JSON.stringify(body)).toBe(200);
  });
});

it.skipIf(libraries === null)('a service without libmtmd names the command, and answers text', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'hearth-no-eyes-'));
  const home = path.join(folder, 'svc');
  const [model, projector] = [path.join(folder, 'tiny.gguf'), path.join(folder, 'mmproj.gguf')];
  await writeTinyChat(model);
  await writeTinyProjector(projector);
  await hearth(['import', model, '--id', 'eyes', '--projector', projector], { SVC_HOME: home });
  const service = await serve(home);
  try {
    const { status, body } = await service.client.chat(asked(words, shown(dataUrl(IMAGE))));
    expect([status, body.code]).toEqual([400, 'images_unread']);
    expect(body.error).toContain('hearth library build --media');
    expect((await service.client.chat(asked(words))).status).toBe(200);
  } finally {
    await service.close();
    await rm(folder, { recursive: true, force: true });
  }
});
