/** Audio as Hearth evaluates it, against mtmd_helper_eval_chunks of the same library on the same files: equal bit by bit. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { AUDIO_ROWS, type AudioFamily, writeTinyAudio } from '../../tools/models/tiny-audio.ts';
import { writeTinyChat } from '../../tools/models/tiny-chat.ts';
import { writeTinyMrope } from '../../tools/models/tiny-projector.ts';
import { flacOf, mp3Of, WAV_ENCODINGS, wavOf } from '../support/audio.ts';
import { Eyes, promptOf } from './eyes.ts';
import { Reference } from './reference.ts';

const libraries = inject('mediaLibraries');
/** A recording of one's own, beside those that are made here. */
const { HEARTH_AUDIO_FILE: recording } = process.env;

interface Case {
  readonly name: string;
  readonly family: AudioFamily;
  readonly write: (path: string) => Promise<number>;
}

const CASES: readonly Case[] = [
  { name: 'stacked frames (Ultravox)', family: 'ultravox', write: writeTinyChat },
  { name: 'averaged frames between marks (Qwen2-Audio)', family: 'qwen2a', write: writeTinyChat },
  { name: 'four positions of each row (Qwen2.5-Omni)', family: 'qwen2a', write: writeTinyMrope },
];

const FILES: Readonly<Record<string, Buffer>> = {
  ...Object.fromEntries(
    (Object.keys(WAV_ENCODINGS) as (keyof typeof WAV_ENCODINGS)[]).map((encoding) => [
      `WAV, ${encoding}`,
      wavOf({ seconds: 0.4, encoding }),
    ]),
  ),
  'WAV, stereo, 44.1 kHz, with lists of words': wavOf({
    seconds: 0.4,
    rate: 44_100,
    channels: 2,
    isLong: true,
  }),
  'WAV that ends early': wavOf({ seconds: 0.4 }).subarray(0, 9_001),
  FLAC: flacOf({ seconds: 0.6 }),
  'FLAC, stereo, 48 kHz': flacOf({ seconds: 0.3, rate: 48_000, channels: 2 }),
  MP3: mp3Of({ seconds: 0.5 }),
  'MP3 with tags': mp3Of({ seconds: 0.5, isTagged: true }),
  'MP3 that says how long it is': mp3Of({ seconds: 0.5, claimed: 14 }),
};

describe.skipIf(libraries === null).each(CASES)('$name', ({ family, write }) => {
  let folder: string;
  let reference: Reference;
  let eyes: Eyes;
  const at = (name: string): string => path.join(folder, name);
  const open = (): Promise<Eyes> =>
    Eyes.open(libraries ?? '', {
      path: at('model.gguf'),
      projector: { path: at('mmproj.gguf'), digest: family },
    });

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'hearth-ears-'));
    await write(at('model.gguf'));
    await writeTinyAudio(at('mmproj.gguf'), { family });
    eyes = await open();
    reference = new Reference(libraries ?? '', at('model.gguf'), at('mmproj.gguf'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each(Object.entries(FILES))('gives the same logits for %s', async (_, file) => {
    const text = 'Hear this: # now.';
    const fresh = await open();
    const seen = await fresh.ask(text, [file]);
    expect(seen.failure).toBeNull();
    expect(seen.logits).toEqual(reference.logits(promptOf(text), [file]));
    expect(new Set(seen.logits).size).toBeGreaterThan(100);
    expect(fresh.imageRows).toBe(AUDIO_ROWS[family]);
    const other = wavOf({ seconds: 0.4, seed: 9 });
    expect(seen.logits).not.toEqual(reference.logits(promptOf(text), [other]));
  });

  it.skipIf(recording === undefined)('gives the same logits for a recording', async () => {
    const file = await readFile(recording ?? '');
    const fresh = await open();
    const seen = await fresh.ask('Hear: #', [file]);
    expect(seen.logits).toEqual(reference.logits(promptOf('Hear: #'), [file]));
  });

  it('evaluates and encodes nothing for another question about the same audio, in whatever encoding', async () => {
    await eyes.ask('Hear: # What is it?', [wavOf({ seconds: 0.4 })]);
    const [rows, encoded] = [eyes.imageRows, eyes.encodedRuns];
    const seen = await eyes.ask('Hear: # Who is it?', [wavOf({ seconds: 0.4, isLong: true })]);
    expect([seen.failure, eyes.imageRows - rows, eyes.encodedRuns - encoded]).toEqual([null, 0, 0]);
    await eyes.ask('Hear: # What is it?', [wavOf({ seconds: 0.4, seed: 2 })]);
    expect(eyes.encodedRuns - encoded).toBe(1);
  });

  it('takes more than 30 seconds in pieces', async () => {
    const fresh = await open();
    const file = wavOf({ seconds: 31, rate: 8_000 });
    const seen = await fresh.ask('Hear: #', [file]);
    expect(seen.failure).toBeNull();
    expect(fresh.imageRows).toBe(2 * AUDIO_ROWS[family]);
    expect(seen.logits).toEqual(reference.logits(promptOf('Hear: #'), [file]));
  });
});
