/**
 * Damaged images, audio files and projectors, at a worker with llama.cpp: none may end it. What the gate lets through of damaged
 * projectors costs a load at most. SVC_LONG_TESTS=1: 10,000 images and 1,000 projectors.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { isFailure, isSvcError, errorMessage } from '../../src/lib/errors/svc-error.ts';
import { inspectProjector } from '../../src/lib/gguf/inspect.ts';
import { type Random, seededRandom } from '../../tools/gguf/random.ts';
import { encodeGguf } from '../../tools/gguf/writer.ts';
import {
  PROJECTOR_FAMILIES,
  projectorContent,
  type ProjectorFamily,
  TEXT_MODELS,
  writeTinyProjector,
} from '../../tools/models/tiny-projector.ts';
import { bootWorker, type TestWorker } from '../support/engine/worker-harness.ts';
import { flacOf, mp3Of, wavOf } from '../support/audio.ts';
import { generateJob } from '../support/engine/jobs.ts';
import { AUDIO_FAMILIES, audioContent, writeTinyAudio } from '../../tools/models/tiny-audio.ts';
import type { GenerateJob } from '../../src/contract/job.ts';
import { bmpOf, GIF, JPEG, stripes, stripesOf } from '../support/images.ts';
import { animatedWebp, webpOf } from '../support/webp.ts';
import { jobOf } from './eyes.ts';

const libraries = inject('mediaLibraries');
const isLong = process.env['SVC_LONG_TESTS'] === '1';
/** Of each family. */
const IMAGES = isLong ? Math.ceil(10_000 / PROJECTOR_FAMILIES.length) : 100;
const PROJECTORS = isLong ? 1_000 : 60;
const WEBP = [
  await webpOf(24, 20, stripesOf(1)),
  await webpOf(24, 20, stripesOf(1), { lossless: true }),
  await webpOf(24, 20, (x, y) => [x, y, 0, (x * y) % 256]),
] as const;
const SOURCES = [stripes(24, 20), JPEG, GIF, bmpOf(12, 9), ...WEBP, animatedWebp(24, 20, WEBP)] as const;
const SOUNDS = [
  wavOf({ seconds: 0.12, rate: 8_000, encoding: '8 bits' }),
  wavOf({ seconds: 0.12, rate: 8_000, channels: 2, isLong: true }),
  flacOf({ seconds: 0.12 }),
  mp3Of({ seconds: 0.12, claimed: 4 }),
  mp3Of({ seconds: 0.12, isTagged: true }),
] as const;
const OVERFLOWS = [0, 0x7f, 0x80, 0xff] as const;

/** Bytes changed, cut out, doubled, or set to what overflows; or all that follows cut off. */
const CHANGES: readonly ((bytes: Buffer, at: number, random: Random) => Buffer)[] = [
  (bytes, at, { below }) => {
    bytes[at] = below(256);
    return bytes;
  },
  (bytes, at, { below }) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + below(16))]),
  (bytes, at) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(Math.max(0, at - 16))]),
  (bytes, at, { below }) => bytes.fill(OVERFLOWS[below(4)] ?? 0, at, Math.min(bytes.length, at + 4)),
  (bytes, at) => bytes.subarray(0, Math.max(1, at)),
];

function mutant(source: Buffer, random: Random): Buffer {
  let bytes: Buffer = Buffer.from(source);
  for (let left = 1 + random.below(4); left > 0 && bytes.length > 0; left -= 1) {
    const change = CHANGES[random.below(CHANGES.length)];
    bytes = change?.(bytes, random.below(bytes.length), random) ?? bytes;
  }
  return bytes;
}

interface Attack {
  readonly seed: number;
  readonly jobFor: (bytes: Buffer) => GenerateJob;
}

/** Sends mutants, each in a job; throws what ends the worker. */
async function attack(worker: TestWorker, sources: readonly Buffer[], { seed, jobFor }: Attack) {
  const random = seededRandom(seed);
  const counts = { answered: 0, refused: 0, others: 0 };
  for (let n = 0; n < IMAGES; n += 1) {
    const bytes = mutant(sources[n % sources.length] ?? GIF, random);
    try {
      for await (const event of worker.run(jobFor(bytes))) if (event.type === 'done') counts.answered += 1;
    } catch (error) {
      if (isFailure(error, 'image_unusable', 'audio_unusable')) counts.refused += 1;
      else if (isSvcError(error) && !isFailure(error, 'worker_crashed', 'worker_hung')) counts.others += 1;
      else
        throw new Error(`file ${n}, ${bytes.toString('base64')}: ${errorMessage(error)}`, { cause: error });
    }
  }
  return counts;
}

describe.skipIf(libraries === null)('mutants', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'hearth-eyes-mutants-'));
    for (const family of PROJECTOR_FAMILIES) await TEXT_MODELS[family](modelOf(family));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const modelOf = (family: ProjectorFamily): string => path.join(folder, `${family}-model.gguf`);
  const load = async (family: ProjectorFamily, projector: string): Promise<TestWorker> => {
    const worker = await bootWorker({ libraries: libraries ?? '' });
    await worker.load({
      path: modelOf(family),
      projector: { path: projector, digest: null },
      numCtx: 1024,
      parallel: 1,
    });
    return worker;
  };

  it.each(PROJECTOR_FAMILIES)(`of ${IMAGES} images are answered or refused by %s`, async (family) => {
    const projector = path.join(folder, `${family}.gguf`);
    await writeTinyProjector(projector, { family });
    const worker = await load(family, projector);
    const counts = await attack(worker, SOURCES, {
      seed: PROJECTOR_FAMILIES.indexOf(family),
      jobFor: (bytes) => jobOf('#', [bytes], { maxTokens: 1 }),
    });
    process.stderr.write(`image mutants, ${family}: ${JSON.stringify(counts)}\n`);
    expect(counts.answered).toBeGreaterThan(IMAGES / 5);
    expect(counts.refused).toBeGreaterThan(IMAGES / 5);
    await worker.end();
  });

  it.each(AUDIO_FAMILIES)(`of ${IMAGES} audio files are answered or refused by %s`, async (family) => {
    const projector = path.join(folder, `${family}.gguf`);
    await writeTinyAudio(projector, { family });
    const worker = await load('gemma3', projector);
    const counts = await attack(worker, SOUNDS, {
      seed: 100 + AUDIO_FAMILIES.indexOf(family),
      jobFor: (bytes) => {
        const media = [{ medium: 'audio' as const, data: bytes.toString('base64'), format: 'wav', at: 0 }];
        return generateJob({
          maxTokens: 1,
          prompt: { kind: 'chat', turns: [{ role: 'user', content: '', media }] },
        });
      },
    });
    process.stderr.write(`audio mutants, ${family}: ${JSON.stringify(counts)}\n`);
    expect(counts.answered).toBeGreaterThan(IMAGES / 5);
    expect(counts.refused).toBeGreaterThan(IMAGES / 50);
    await worker.end();
  });

  it.each([
    ['that see', projectorContent()],
    ['that hear', audioContent()],
  ])(
    `of ${PROJECTORS} projectors %s are refused by the gate, or leave a model that answers text`,
    async (_, content) => {
      const random = seededRandom(48);
      const source = encodeGguf(content);
      const header = source.subarray(0, 1_600);
      const file = path.join(folder, 'mutant.gguf');
      const counts = { gate: 0, answered: 0, ended: 0 };
      for (let n = 0; n < PROJECTORS; n += 1) {
        const bytes = Buffer.from(source);
        bytes.set(mutant(header, random).subarray(0, header.length));
        await writeFile(file, bytes);
        const isRefused = await inspectProjector(file).then(
          () => false,
          () => true,
        );
        if (isRefused) {
          counts.gate += 1;
          continue;
        }
        try {
          const worker = await load('gemma3', file);
          for await (const event of worker.run(jobOf('hello', [], { maxTokens: 1 })))
            if (event.type === 'done') counts.answered += 1;
          await worker.end();
        } catch {
          // A load that ends its worker is an error of that model; the service goes on.
          counts.ended += 1;
        }
      }
      process.stderr.write(`projector mutants: ${JSON.stringify(counts)}\n`);
      expect(counts.gate + counts.answered + counts.ended).toBe(PROJECTORS);
      expect(counts.gate).toBeGreaterThan(PROJECTORS / 4);
      expect(counts.ended).toBeLessThanOrEqual(PROJECTORS / 20);
    },
  );
});
