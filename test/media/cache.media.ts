/**
 * Rows of images in the prompt cache: found after the slot was taken, and by another process. Pixtral is not
 * here: libmtmd scales memory that it has not cleared by zero, so that one image in many comes out as no numbers.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { LoadSpec } from '../../src/contract/load.ts';
import { writeTinyChat } from '../../tools/models/tiny-chat.ts';
import {
  type ProjectorFamily,
  writeTinyMrope,
  writeTinyProjector,
} from '../../tools/models/tiny-projector.ts';
import { writeTinySlidingWindow } from '../../tools/models/tiny-variants.ts';
import { stripes } from '../support/images.ts';
import { Eyes } from './eyes.ts';

const libraries = inject('mediaLibraries');
const MIB = 1024 * 1024;
const STORY = 'tell me about the small house and the sea and the time '.repeat(12);
const IMAGES = [stripes(50, 40, 1), stripes(64, 90, 2)] as const;
const FIRST = `${STORY} # and # What is it?`;
const OTHER = `${STORY} # and # Which is larger?`;

interface Case {
  readonly name: string;
  readonly family: ProjectorFamily;
  readonly write: (path: string) => Promise<number>;
  /** State of another question is found only in its slot: it is kept as a whole. */
  readonly isWhole: boolean;
}

const CASES: readonly Case[] = [
  { name: 'Gemma 3 before plain attention', family: 'gemma3', write: writeTinyChat, isWhole: false },
  {
    name: 'Gemma 3 before a sliding window',
    family: 'gemma3',
    write: writeTinySlidingWindow,
    isWhole: false,
  },
  { name: 'LLaVA', family: 'mlp', write: writeTinyChat, isWhole: false },
  { name: 'Qwen2-VL', family: 'qwen2vl_merger', write: writeTinyMrope, isWhole: true },
];

describe.skipIf(libraries === null).each(CASES)('$name', ({ family, write, isWhole }) => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'hearth-eyes-cache-'));
    await write(path.join(folder, 'model.gguf'));
    await writeTinyProjector(path.join(folder, 'mmproj.gguf'), { family });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const open = (cache: string, fields: Partial<LoadSpec> = {}): Promise<Eyes> =>
    Eyes.open(libraries ?? '', {
      path: path.join(folder, 'model.gguf'),
      projector: { path: path.join(folder, 'mmproj.gguf'), digest: family },
      numCtx: 1024,
      parallel: 1,
      promptCache: {
        ramBytes: 64 * MIB,
        disk: {
          folder: path.join(folder, cache),
          bytes: 64 * MIB,
          kind: `${'a'.repeat(16)}-${'a'.repeat(32)}`,
          secret: '0'.repeat(64),
        },
      },
      ...fields,
    });

  it('finds them again after another conversation took the slot', async () => {
    const eyes = await open('slot');
    const cold = await eyes.ask(FIRST, IMAGES);
    await eyes.ask(`other ${STORY}`, []);
    const [rows, encoded] = [eyes.imageRows, eyes.encodedRuns];
    const warm = await eyes.ask(FIRST, IMAGES);
    expect([warm.failure, warm.text]).toEqual([null, cold.text]);
    if (isWhole) return;
    expect([eyes.imageRows - rows, eyes.encodedRuns - encoded]).toEqual([0, 0]);
    expect(warm.done?.cache?.ramTokens).toBeGreaterThan(100);
  });

  it('finds them for another question in another process, and encodes nothing', async () => {
    const first = await open('disk');
    const asked = await first.ask(OTHER, IMAGES);
    await first.ask(FIRST, IMAGES);
    await first.chats.save();
    const second = await open('disk');
    const seen = await second.ask(OTHER, IMAGES);
    expect([seen.failure, seen.text]).toEqual([null, asked.text]);
    if (isWhole) return;
    expect([second.imageRows, second.encodedRuns]).toEqual([0, 0]);
    expect(seen.done?.cache?.diskTokens).toBeGreaterThan(100);
  });
});
