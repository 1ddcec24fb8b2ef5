/** Rows of images as Hearth evaluates them, against mtmd_helper_eval_chunks of the same library: equal bit by bit. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { writeTinyChat } from '../../tools/models/tiny-chat.ts';
import {
  type ProjectorFamily,
  writeTinyDeepstack,
  writeTinyMrope,
  writeTinyProjector,
  writeTinySmolVlm,
} from '../../tools/models/tiny-projector.ts';
import { writeTinySlidingWindow } from '../../tools/models/tiny-variants.ts';
import { stripes, stripesOf } from '../support/images.ts';
import { animatedWebp, webpOf } from '../support/webp.ts';
import { Eyes, promptOf } from './eyes.ts';
import { Reference } from './reference.ts';

const libraries = inject('mediaLibraries');

interface Case {
  readonly name: string;
  readonly family: ProjectorFamily;
  readonly write: (path: string) => Promise<number>;
}

const CASES: readonly Case[] = [
  { name: 'a whole image (Gemma 3)', family: 'gemma3', write: writeTinyChat },
  {
    name: 'a whole image, before a sliding window',
    family: 'gemma3',
    // The last token must reach rows of an image in its second layer: in the first one they are the same either way.
    write: (file) => writeTinySlidingWindow(file, { window: 64 }),
  },
  { name: 'a row after the other (LLaVA)', family: 'mlp', write: writeTinyChat },
  { name: 'as many rows as the size asks for (Pixtral)', family: 'pixtral', write: writeTinyChat },
  {
    name: 'tiles with tokens between them (Idefics 3, SmolVLM)',
    family: 'idefics3',
    write: writeTinySmolVlm,
  },
  { name: 'fewer positions than rows (Qwen2-VL)', family: 'qwen2vl_merger', write: writeTinyMrope },
  { name: 'windows in the image (Qwen2.5-VL)', family: 'qwen2.5vl_merger', write: writeTinyMrope },
  { name: 'rows wider than the model (Qwen3-VL)', family: 'qwen3vl_merger', write: writeTinyDeepstack },
];

const IMAGES = [stripes(50, 40, 1), stripes(64, 90, 2)] as const;

describe.skipIf(libraries === null).each(CASES)('$name', ({ family, write }) => {
  let folder: string;
  let model: string;
  let projector: string;
  let reference: Reference;
  const open = (): Promise<Eyes> =>
    Eyes.open(libraries ?? '', { path: model, projector: { path: projector, digest: family } });

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'hearth-eyes-'));
    [model, projector] = ['model.gguf', 'mmproj.gguf'].map((name) => path.join(folder, name)) as [
      string,
      string,
    ];
    await write(model);
    await writeTinyProjector(projector, { family });
    await open();
    reference = new Reference(libraries ?? '', model, projector);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Its last image is close to its end, so that a window of 64 tokens sees it. */
  const TEXT = 'Look at this: # and at this: # now.';
  const alone = (text: string, options = {}) => reference.logits(promptOf(text), IMAGES, options);

  it('gives the same logits alone and cold', async () => {
    const eyes = await open();
    const seen = await eyes.ask(TEXT, IMAGES);
    expect(seen.failure).toBeNull();
    expect(seen.logits).toEqual(alone(TEXT));
    expect(new Set(seen.logits).size).toBeGreaterThan(100);
    const others = [IMAGES[0], stripes(64, 90, 3)];
    expect(seen.logits).not.toEqual(reference.logits(promptOf(TEXT), others));
  });

  it('gives the same logits beside another stream', async () => {
    const eyes = await open();
    const beside = eyes.ask('Tell me something forever.', [], { maxTokens: 60 });
    const seen = await eyes.ask(TEXT, IMAGES);
    await beside;
    expect(seen.failure).toBeNull();
  });

  it('evaluates no rows and encodes nothing for the same prompt again', async () => {
    const eyes = await open();
    await eyes.ask(TEXT, IMAGES);
    const [rows, encoded] = [eyes.imageRows, eyes.encodedRuns];
    const seen = await eyes.ask(TEXT, IMAGES);
    expect([eyes.imageRows - rows, eyes.encodedRuns - encoded]).toEqual([0, 0]);
    expect(seen.logits).toEqual(alone(TEXT, { alone: true }));
  });

  it('evaluates no rows for another question about the same images', async () => {
    const eyes = await open();
    await eyes.ask(TEXT, IMAGES);
    const [rows, encoded] = [eyes.imageRows, eyes.encodedRuns];
    const seen = await eyes.ask('Look at this: # and at this: # Which is larger?', IMAGES);
    expect(seen.failure).toBeNull();
    expect([eyes.imageRows - rows, eyes.encodedRuns - encoded]).toEqual([0, 0]);
  });

  it('takes a WebP file, or the first frame of an animation, for the same picture as a PNG', async () => {
    const eyes = await open();
    const { logits } = await eyes.ask(TEXT, IMAGES);
    const [rows, encoded] = [eyes.imageRows, eyes.encodedRuns];
    const first = await webpOf(50, 40, stripesOf(1), { lossless: true });
    const second = await webpOf(64, 90, stripesOf(2), { lossless: true });
    const later = await webpOf(64, 90, stripesOf(3));
    const seen = await eyes.ask(TEXT, [first, animatedWebp(64, 90, [second, later])]);
    expect([seen.failure, eyes.imageRows - rows, eyes.encodedRuns - encoded]).toEqual([null, 0, 0]);
    expect(seen.logits).toEqual(alone(TEXT, { alone: true }));
    expect(logits).toHaveLength(seen.logits.length);
  });

  it('evaluates another image anew', async () => {
    const eyes = await open();
    const [first] = IMAGES;
    await eyes.ask(TEXT, IMAGES);
    const rows = eyes.imageRows;
    const others = [first, stripes(64, 90, 3)] as const;
    const seen = await eyes.ask(TEXT, others);
    expect(eyes.imageRows).toBeGreaterThan(rows);
    expect(seen.failure).toBeNull();
  });
});

it.skipIf(libraries !== null)('images are not tried: no compiler and no libmtmd is here', () => {
  expect(libraries).toBeNull();
});
