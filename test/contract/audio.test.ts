/** Audio of requests in every dialect that has it, on its way to the engine, and what the service says of a model that hears. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importFile } from '../../src/store/install/import.ts';
import { writeTinyAudio } from '../../tools/models/tiny-audio.ts';
import { writeTinyProjector } from '../../tools/models/tiny-projector.ts';
import { flacOf, mp3Of, wavOf } from '../support/audio.ts';
import { type ScriptedService, startScripted } from '../support/http/scripted-service.ts';
import { stripes } from '../support/images.ts';
import { hearth } from '../support/process/hearth.ts';
import { tinyModels } from '../support/tiny-models.ts';

let service: ScriptedService;
beforeAll(async () => {
  service = await startScripted();
  const [ears, eyes] = ['ears', 'eyes'].map((name) => path.join(service.home, `mmproj-${name}.gguf`)) as [
    string,
    string,
  ];
  await writeTinyAudio(ears);
  await writeTinyProjector(eyes);
  await importFile(service.registry, tinyModels.chat, { id: 'ears', projector: ears });
  await importFile(service.registry, tinyModels.chat, { id: 'eyes', projector: eyes });
});
afterAll(() => service?.close());

const FILES = {
  wav: wavOf({ seconds: 0.2 }).toString('base64'),
  mp3: mp3Of({ seconds: 0.2 }).toString('base64'),
  flac: flacOf({ seconds: 0.2 }).toString('base64'),
} as const;
type Format = keyof typeof FILES;

interface Sent {
  readonly path: string;
  readonly param: string;
  readonly body: (data: unknown, format: unknown) => object;
}

const DIALECTS: Readonly<Record<string, Sent>> = {
  'chat completions': {
    path: '/v1/chat/completions',
    param: 'messages[0].content[0]',
    body: (data, format) => ({
      messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data, format } }] }],
    }),
  },
  responses: {
    path: '/v1/responses',
    param: 'input[0].content[0]',
    body: (data, format) => ({
      input: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data, format } }] }],
    }),
  },
  'Ollama, chat': {
    path: '/api/chat',
    param: 'messages[0].images[0]',
    body: (data) => ({ stream: false, messages: [{ role: 'user', content: '', images: [data] }] }),
  },
  'Ollama, generate': {
    path: '/api/generate',
    param: 'images[0]',
    body: (data) => ({ stream: false, prompt: '', images: [data] }),
  },
};

function mediaOfLast() {
  const { job } = service.engine.lastJob.submission;
  if (job.kind !== 'generate' || job.prompt.kind !== 'chat') throw new Error('not a chat job');
  return job.prompt.turns.at(-1)?.media;
}

describe.each(Object.entries(DIALECTS))('audio by %s', (_, { path: route, body, param }) => {
  it.each(Object.keys(FILES) as Format[])('reaches the engine: %s', async (format) => {
    const { status, text } = await service.client.post(route, {
      model: 'ears',
      ...body(FILES[format], format),
    });
    expect(status, text).toBe(200);
    expect(mediaOfLast()).toEqual([{ medium: 'audio', data: FILES[format], format, at: 0 }]);
  });

  it.each(['eyes', 'tiny-chat'])('is refused by name for a model that does not hear: %s', async (model) => {
    const {
      status,
      body: answer,
      text,
    } = await service.client.post(route, { model, ...body(FILES.wav, 'wav') });
    expect([status, text]).toEqual([400, expect.stringContaining('name a model that hears audio')]);
    expect(text).toContain(param);
    expect(answer).toBeDefined();
  });

  it('that is none is refused with what it must be', async () => {
    for (const data of ['not base64!', 17, ''])
      expect((await service.client.post(route, { model: 'ears', ...body(data, 'wav') })).status).toBe(400);
  });
});

it('an image is refused by a model that only hears', async () => {
  const url = `data:image/png;base64,${stripes(4, 4).toString('base64')}`;
  const { status, body } = await service.client.post('/v1/chat/completions', {
    model: 'ears',
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
  });
  expect([status, body.error]).toEqual([400, expect.stringContaining('name a model that reads images')]);
});

it('what a model hears is said by the list, by Ollama and by hearth show', async () => {
  const { body } = await service.client.get('/v1/models');
  const list = body.data as { readonly id: string; readonly capabilities: readonly string[] }[];
  expect(list.filter(({ capabilities }) => capabilities.includes('audio')).map(({ id }) => id)).toEqual([
    'ears',
  ]);
  const { body: shown } = await service.client.post('/api/show', { model: 'ears' });
  expect(shown.capabilities).toContain('audio');
  const { stdout } = await hearth(['show', 'ears'], { SVC_HOME: service.home });
  expect(stdout).toMatch(/^reads +text, audio; projector ultravox$/m);
});

describe('hearth run --audio', () => {
  const run = (...args: string[]) =>
    hearth(['run', 'ears', ...args], { SVC_HOME: service.home, SVC_PORT: new URL(service.url).port });

  it.each(Object.keys(FILES) as Format[])('sends a %s file, whatever its name says', async (format) => {
    const file = path.join(service.home, 'sound');
    await writeFile(file, FILES[format], 'base64');
    const { code, stderr } = await run('--audio', file, 'What is said?');
    expect([code, stderr]).toEqual([0, '']);
    expect(mediaOfLast()).toEqual([
      { medium: 'audio', data: FILES[format], format, at: 'What is said?'.length },
    ]);
  });

  it('ends with 2 for a file of another kind', async () => {
    const file = path.join(service.home, 'image.png');
    await writeFile(file, stripes(4, 4));
    const { code, stderr } = await run('--audio', file, 'What is said?');
    expect([code, stderr]).toEqual([2, expect.stringContaining('image.png is not audio that is known here')]);
  });
});
