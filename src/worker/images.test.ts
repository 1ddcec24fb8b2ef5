/** Images from a job to the rows that are evaluated, over a scripted projector: no native library is loaded. */
import { describe, expect, it } from 'vitest';
import { wavOf } from '../../test/support/audio.ts';
import { dataUrl, pngWith, stripes } from '../../test/support/images.ts';
import { chatRig } from '../../test/support/engine/chat-rig.ts';
import { generateJob } from '../../test/support/engine/jobs.ts';
import {
  answering,
  SCRIPTED_ROWS,
  scriptedBackend,
  scriptedSpec,
} from '../../test/support/engine/scripted-backend.ts';
import type { GenerateJob, Turn } from '../contract/job.ts';
import type { LoadSpec } from '../contract/load.ts';
import { loadChat } from './load/chat.ts';
import { AUDIO_LIMITS, IMAGE_LIMITS } from './media/limits.ts';
import type { NativeBackend } from './native.ts';

const PROJECTOR = { path: '/nowhere/mmproj.gguf', digest: 'd'.repeat(64) };

/** The words of the last user as the model reads them, images as the letters of their rows. */
const echo = answering(
  (prompt) =>
    prompt
      .match(/(?:user|tool)\n[^<]*/g)
      ?.at(-1)
      ?.slice(5) ?? '',
);

async function service(
  spec: Partial<LoadSpec> = { projector: PROJECTOR },
  backendHas: Partial<NativeBackend> = {},
) {
  const { backend, evaluated } = scriptedBackend(echo);
  const chat = await loadChat({ ...backend, ...backendHas }, { ...scriptedSpec, ...spec }, () => undefined);
  const { chats, run, ended, failureOf } = chatRig(chat, 200);
  const said = async (fields: Partial<GenerateJob>) => {
    const { job, events } = await run(fields);
    const text = events.map((event) => (event.type === 'text' ? event.text : '')).join('');
    const done = events.find((event) => event.type === 'done');
    return { text, usage: done?.usage, failure: failureOf(job.jobId)?.failure ?? null };
  };
  return { chats, run: said, ended, failureOf, evaluated };
}

/** The scripted projector reads the last bytes of a file, and spells them. */
const imageSpelling = (letters: string): Buffer => Buffer.concat([stripes(4, 4), Buffer.from(letters)]);
const CAT = imageSpelling('cat-cat!');
const DOG = imageSpelling('dog-dog!');

/** Text, with images where `#` stands. */
function asking(text: string, ...images: readonly Buffer[]): Pick<GenerateJob, 'prompt'> {
  const parts = text.split('#');
  let at = 0;
  const media = images.map((image, index) => {
    at += parts[index]?.length ?? 0;
    return { medium: 'image' as const, url: dataUrl(image), at };
  });
  const turn: Turn = { role: 'user', content: parts.join(''), media };
  return { prompt: { kind: 'chat', turns: [turn] } };
}

describe('images without the native library', () => {
  it('stand where they were sent, between the marks of their projector', async () => {
    const { run, evaluated } = await service();
    const { text, usage } = await run(asking('See # and #.', CAT, DOG));
    expect(text).toBe('See (cat-cat!) and (dog-dog!).');
    expect(evaluated).toMatchObject({ encodes: 2, imageRows: 2 * SCRIPTED_ROWS });
    expect(usage?.promptTokens).toBe(`<|im_start|>user\n${text}<|im_end|>\n<|im_start|>assistant\n`.length);
  });

  it('are encoded once, however often they are sent', async () => {
    const { run, evaluated } = await service();
    expect((await run(asking('First #', CAT))).text).toBe('First (cat-cat!)');
    expect((await run(asking('Other #', CAT))).text).toBe('Other (cat-cat!)');
    expect(evaluated).toMatchObject({ encodes: 1, imageRows: 2 * SCRIPTED_ROWS });
  });

  it('are not evaluated again where the state of a prompt has them', async () => {
    const { run, evaluated } = await service();
    await run(asking('# What is it?', CAT));
    const { text, usage } = await run(asking('# What colour?', CAT));
    expect(text).toBe('(cat-cat!) What colour?');
    expect(evaluated).toMatchObject({ encodes: 1, imageRows: SCRIPTED_ROWS });
    expect(usage?.cachedTokens).toBe('<|im_start|>user\n(cat-cat!) What '.length);
  });

  it('are told apart: state of another image is never used, nor any part of it', async () => {
    const { run, evaluated } = await service();
    await run(asking('# What is it?', CAT));
    const { text, usage } = await run(asking('# What is it?', DOG));
    expect(text).toBe('(dog-dog!) What is it?');
    expect(usage?.cachedTokens).toBe('<|im_start|>user\n('.length);
    expect(evaluated).toMatchObject({ encodes: 2, imageRows: 2 * SCRIPTED_ROWS });
  });

  it('go with text of others', async () => {
    const { run } = await service();
    const all = await Promise.all([
      run(asking('A #', CAT)),
      run({ prompt: { kind: 'chat', turns: [{ role: 'user', content: 'only text' }] } }),
      run(asking('B # #', DOG, CAT)),
    ]);
    expect(all.map(({ text }) => text)).toEqual(['A (cat-cat!)', 'only text', 'B (dog-dog!) (cat-cat!)']);
  });

  it('cannot be forged by text that looks like what stands for them', async () => {
    const { run, evaluated } = await service();
    const words = 'hearthmedium00x0x __media__ [image]';
    expect((await run({ prompt: { kind: 'chat', turns: [{ role: 'user', content: words }] } })).text).toBe(
      words,
    );
    expect((await run(asking(`${words} #`, CAT))).text).toBe(`${words} (cat-cat!)`);
    expect(evaluated.encodes).toBe(1);
  });
});

/** The same with audio. */
const hearing = (text: string, ...files: readonly Buffer[]): Pick<GenerateJob, 'prompt'> => {
  const { prompt } = asking(text, ...files);
  if (prompt.kind !== 'chat') throw new Error('no chat');
  const turns = prompt.turns.map(
    ({ media = [], ...turn }): Turn => ({
      ...turn,
      media: media.map(({ at }, index) => ({
        medium: 'audio' as const,
        data: files[index]?.toString('base64') ?? '',
        format: 'wav',
        at,
      })),
    }),
  );
  return { prompt: { kind: 'chat', turns } };
};

describe('audio without the native library', () => {
  const spelling = (letters: string, seconds = 0.2): Buffer => {
    const file = wavOf({ seconds });
    file.write(letters, file.length - letters.length);
    return file;
  };
  const WORD = spelling('one-word');

  it('stands where it was sent, among images, and is encoded once', async () => {
    const { run, evaluated } = await service();
    const image = asking('See # and #.', CAT, CAT);
    const audio = hearing('See # and #.', WORD, WORD);
    if (image.prompt.kind !== 'chat' || audio.prompt.kind !== 'chat') throw new Error('no chat');
    const [seen, audible] = [image.prompt.turns[0]?.media ?? [], audio.prompt.turns[0]?.media ?? []];
    const media = [seen[0], audible[1]].flatMap((each) => each ?? []);
    const turn: Turn = { role: 'user', content: 'See  and .', media };
    const { text, failure } = await run({ prompt: { kind: 'chat', turns: [turn] } });
    expect([failure, text]).toEqual([null, 'See (cat-cat!) and (one-word).']);
    expect((await run(hearing('#', WORD))).text).toBe('(one-word)');
    expect(evaluated.encodes).toBe(2);
  });

  it.each([
    ['too short', [spelling('one-word', 0.05)], 1, 'shorter than 0.1 s'],
    ['too long', [wavOf({ seconds: 601, rate: 4_000, encoding: '8 bits' })], 1, 'it lasts 601 s'],
    ['of another format', [WORD, Buffer.from('OggS........')], 2, 'it is Ogg'],
    [
      'too long together',
      Array<Buffer>(4).fill(wavOf({ seconds: 500, rate: 4_000, encoding: '8 bits' })),
      4,
      'last longer than 1800 s',
    ],
    ['too many', Array<Buffer>(33).fill(WORD), 33, 'may have 32'],
    ['too large', [Buffer.alloc(AUDIO_LIMITS.bytes + 1)], 1, 'bytes'],
  ])('that is %s is refused by name, and nothing is encoded', async (_, files, audio, reason) => {
    const { run, evaluated } = await service();
    const { failure } = await run(hearing('#'.repeat(files.length), ...files));
    expect(failure).toMatchObject({
      code: 'audio_unusable',
      detail: { audio, reason: expect.stringContaining(reason) },
    });
    expect(evaluated.encodes).toBe(0);
  });

  it('is refused with what helps where nothing hears, and in a record', async () => {
    const { run } = await service({});
    expect((await run(hearing('#', WORD))).failure).toMatchObject({ code: 'audio_unread' });
    const frozen = await run({ ...hearing('#', WORD), lane: 'frozen' });
    expect(frozen.failure).toMatchObject({ code: 'evidence_unavailable' });
  });
});

/** A conversation in which a tool found images. */
function finding(...images: readonly Buffer[]): Pick<GenerateJob, 'prompt'> {
  const { prompt } = asking('#'.repeat(images.length), ...images);
  if (prompt.kind !== 'chat') throw new Error('no chat');
  const turns = prompt.turns.map((turn): Turn => ({ ...turn, role: 'tool', content: turn.content }));
  return { prompt: { kind: 'chat', turns: [{ role: 'user', content: 'Look.' }, ...turns] } };
}

describe('images that a tool found', () => {
  const FORMAT = Buffer.from('....ftypheic');

  it('are read where they stand', async () => {
    const { run } = await service();
    expect((await run(finding(CAT, DOG))).text).toBe('(cat-cat!)(dog-dog!)');
  });

  it.each([
    ['of another format', FORMAT, 'it is AVIF or HEIC'],
    ['damaged', imageSpelling('damaged'), 'its data is damaged'],
    ['too large', pngWith(20_000, 20_000, Buffer.from('x')), 'it has 20000 x 20000 pixels'],
  ])('leave a note that says why where they are %s, and the others are read', async (_, bad, reason) => {
    const { run, evaluated } = await service();
    const { text, failure } = await run(finding(CAT, bad, DOG));
    expect(failure).toBeNull();
    expect(text).toMatch(/^\(cat-cat!\)\[image not shown: .*\]\(dog-dog!\)$/);
    expect(text).toContain(reason);
    expect(evaluated.encodes).toBe(2);
  });

  it('leave a note where nothing reads images', async () => {
    const { run } = await service({});
    const { text, failure } = await run(finding(CAT));
    expect([failure, text]).toEqual([null, expect.stringMatching(/^\[image not shown: /)]);
  });
});

describe('images that are not read', () => {
  const HUGE = pngWith(20_000, 20_000, Buffer.from('x'));
  it.each([
    ['too many', asking('#'.repeat(101), ...Array<Buffer>(101).fill(CAT)), 'images_too_many', { limit: 100 }],
    [
      'a strip',
      asking('#', pngWith(1, 201, Buffer.from('x'))),
      'image_unusable',
      { image: 1, reason: expect.stringContaining('1 x 201') },
    ],
    [
      'too large together',
      asking('#'.repeat(12), ...Array<Buffer>(12).fill(pngWith(6_000, 6_000, Buffer.from('x')))),
      'image_unusable',
      { image: 12, reason: expect.stringContaining('pixels') },
    ],
    [
      'too large',
      asking('#', HUGE),
      'image_unusable',
      { image: 1, reason: expect.stringContaining('pixels') },
    ],
    [
      'of another format',
      asking('# #', CAT, Buffer.from('....ftypheic')),
      'image_unusable',
      { image: 2, reason: 'it is AVIF or HEIC' },
    ],
    [
      'damaged',
      asking('#', imageSpelling('damaged')),
      'image_unusable',
      { image: 1, reason: 'its data is damaged' },
    ],
    ['for a record', { ...asking('#', CAT), lane: 'frozen' as const }, 'evidence_unavailable', {}],
  ])('%s are refused by name, and nothing is encoded', async (_, fields, code, detail) => {
    const { run, evaluated } = await service();
    const { failure } = await run(fields);
    expect(failure).toMatchObject({ code, detail });
    expect(evaluated).toMatchObject({ encodes: 0, imageRows: 0 });
  });

  it('too many bytes are refused', async () => {
    const { run } = await service();
    const { failure } = await run(asking('#', Buffer.alloc(IMAGE_LIMITS.bytes + 1)));
    expect(failure).toMatchObject({
      code: 'image_unusable',
      detail: { reason: expect.stringContaining('bytes') },
    });
  });

  it.each([
    ['without a projector', {}, {}, /no projector/],
    ['without the library', { projector: PROJECTOR }, { readsMedia: false }, /hearth library build --media/],
  ] as const)('%s are refused with what helps, and text is answered', async (_, spec, has, remedy) => {
    const { run } = await service(spec, has);
    const { failure } = await run(asking('#', CAT));
    expect(failure?.code).toBe('images_unread');
    expect(JSON.stringify(failure?.detail)).toMatch(remedy);
    const turns: Turn[] = [{ role: 'user', content: 'text' }];
    expect((await run({ prompt: { kind: 'chat', turns } })).text).toBe('text');
  });

  it('cancelled ones end as any job does', async () => {
    const { chats, ended, failureOf, run } = await service();
    const job = generateJob(asking('#', CAT));
    chats.submit(job);
    expect(chats.cancel(job.jobId)).toBe(true);
    await ended(job.jobId);
    expect(failureOf(job.jobId)?.failure.code).toBe('cancelled');
    expect((await run(asking('#', CAT))).text).toBe('(cat-cat!)');
  });
});
