/** The images of a job, read and bounded, with marks in the place of each that the template carries along. */
import { randomBytes } from 'node:crypto';
import type { GenerateJob, Turn } from '../../contract/job.ts';
import { fail, isFailure, isSvcError, messageOf } from '../../lib/errors/svc-error.ts';
import type { PromptPiece } from '../prompt/guard.ts';
import { readImageHeader } from './image-file.ts';
import { IMAGE_LIMITS } from './limits.ts';
import type { MediaRoom, PromptRun, SeenPart } from './media-room.ts';
import { rowTokens } from './rows.ts';

/** What a loaded model makes of images: a room, or why there is none, as parts of a sentence. */
export type Sight = MediaRoom | { readonly reason: string; readonly remedy: string };

export const hasMedia = ({ prompt }: GenerateJob): boolean =>
  prompt.kind === 'chat' && prompt.turns.some(({ media = [] }) => media.length > 0);

/** Nobody can know it, so no text of a client is taken for one. Letters and digits, which no filter of a template changes. */
const MARK = `hearthimage${randomBytes(16).toString('hex')}`;
const MARKS = new RegExp(`${MARK}x(\\d+)x`);
/** What people read where an image stands. */
const SHOWN = '[image]';

export class PromptImages {
  readonly #parts: readonly (readonly SeenPart[])[];

  constructor(parts: readonly (readonly SeenPart[])[]) {
    this.#parts = parts;
  }

  /** What a rendered prompt must hold. */
  get marks(): readonly string[] {
    return this.#parts.map((_, at) => markOf(at));
  }

  /** The pieces of a prompt with each mark replaced by what its image stands for, and all runs in their order. */
  placed(pieces: readonly PromptPiece[]): {
    readonly pieces: readonly PromptPiece[];
    readonly runs: readonly PromptRun[];
  } {
    const runs: PromptRun[] = [];
    return { pieces: pieces.flatMap((piece) => this.#placedIn(piece, runs)), runs };
  }

  #placedIn(piece: PromptPiece, runs: PromptRun[]): PromptPiece[] {
    const found = MARKS.exec(piece.text);
    if (found === null) return piece.text === '' ? [] : [piece];
    const [mark, place] = found;
    const before = { ...piece, text: piece.text.slice(0, found.index) };
    // The library, too, takes the texts on both sides of an image apart.
    const behind = { ...piece, text: piece.text.slice(found.index + mark.length), continues: false };
    const parts = this.#parts[Number(place)] ?? [];
    for (const part of parts) if ('run' in part) runs.push(part.run);
    const tokens = parts.map((part) => ('tokens' in part ? part.tokens : rowTokens(part.run)));
    const image: PromptPiece = { text: SHOWN, plain: true, continues: true, tokens };
    return [...(before.text === '' ? [] : [before]), image, ...this.#placedIn(behind, runs)];
  }
}

const markOf = (image: number): string => `${MARK}x${image}x`;

export interface SightedJob {
  /** With marks in its texts in the place of images. */
  readonly job: GenerateJob;
  readonly images: PromptImages;
}

/** Throws what the client can do about an image that is not read. */
export async function readImages(
  asked: GenerateJob,
  {
    sight,
    modelId,
    mostWhole,
  }: { readonly sight: Sight; readonly modelId: string; readonly mostWhole: number },
): Promise<SightedJob> {
  if (asked.lane !== 'shared')
    throw fail('evidence_unavailable', { reason: 'a record does not cover its images' });
  const sent = sentImages(asked);
  if (sent.length > IMAGE_LIMITS.images)
    throw fail('images_too_many', { images: sent.length, limit: IMAGE_LIMITS.images });
  const files = readFiles(sent);
  const parts: (readonly SeenPart[])[] = [];
  const words: string[] = [];
  for (const [at, { fromTool }] of sent.entries()) {
    const seen = await seenOr(fromTool, async () => {
      if ('reason' in sight) throw fail('images_unread', { model: modelId, ...sight });
      const file = files[at] ?? new Error('each image has a file or a failure');
      if (!Buffer.isBuffer(file)) throw file;
      return see(sight, file, { image: at + 1, modelId, mostWhole });
    });
    words.push(typeof seen === 'string' ? seen : markOf(parts.length));
    if (typeof seen !== 'string') parts.push(seen);
  }
  return { job: withWords(asked, words), images: new PromptImages(parts) };
}

/** Nobody who sends a conversation can change what a tool found, so there a note takes the place of what is not read. */
async function seenOr(
  fromTool: boolean,
  see: () => Promise<readonly SeenPart[]>,
): Promise<readonly SeenPart[] | string> {
  try {
    return await see();
  } catch (error) {
    if (!fromTool || !isFailure(error, 'image_unusable', 'images_unread')) throw error;
    return `[image not shown: ${error.detail.reason}]`;
  }
}

interface Asked {
  readonly image: number;
  readonly modelId: string;
  readonly mostWhole: number;
}

async function see(room: MediaRoom, file: Buffer, { image, modelId, mostWhole }: Asked) {
  const seen = await room.see(file).catch((error: unknown) => {
    throw fail('image_unusable', { image, reason: messageOf(error) }, error);
  });
  const large = seen.find((part) => 'run' in part && part.run.isWhole && part.run.rows > mostWhole);
  if (large === undefined) return seen;
  throw fail('images_unread', {
    model: modelId,
    reason: `an image takes more than ${mostWhole} rows in one piece`,
    remedy: 'use a projector with smaller images',
  });
}

interface SentImage {
  readonly url: string;
  readonly fromTool: boolean;
}

function sentImages({ prompt }: GenerateJob): SentImage[] {
  if (prompt.kind !== 'chat') return [];
  return prompt.turns.flatMap(({ role, media = [] }) =>
    media.flatMap((each) => (each.medium === 'image' ? [{ url: each.url, fromTool: role === 'tool' }] : [])),
  );
}

/** The job with words in the place of its images. */
function withWords(job: GenerateJob, words: readonly string[]): GenerateJob {
  const { prompt } = job;
  if (prompt.kind !== 'chat') return job;
  let image = 0;
  const turns = prompt.turns.map(({ media = [], ...turn }): Turn => {
    let content = '';
    let from = 0;
    for (const { medium, at } of media) {
      if (medium !== 'image') continue;
      content += turn.content.slice(from, at) + (words[image] ?? '');
      from = at;
      image += 1;
    }
    return { ...turn, content: content + turn.content.slice(from) };
  });
  return { ...job, prompt: { ...prompt, turns } };
}

/** Each file, or why it is not read: nothing is decoded whose header says too much, or too much with those before it. */
function readFiles(sent: readonly SentImage[]): (Buffer | Error)[] {
  let left: number = IMAGE_LIMITS.pixelsOfAll;
  return sent.map(({ url }, at) => {
    try {
      const { bytes, pixels } = fileOf(url, at + 1);
      if (pixels > left) {
        const reason = `it and those before it have more than ${IMAGE_LIMITS.pixelsOfAll} pixels`;
        throw fail('image_unusable', { image: at + 1, reason, remedy: 'send fewer or smaller ones' });
      }
      left -= pixels;
      return bytes;
    } catch (error) {
      if (isSvcError(error)) return error;
      throw error;
    }
  });
}

const READ = 'send it as PNG, JPEG, GIF, BMP or WebP';

function fileOf(url: string, image: number): { readonly bytes: Buffer; readonly pixels: number } {
  if (!url.startsWith('data:'))
    throw fail('image_unusable', { image, reason: 'it is not here', remedy: 'send the image itself' });
  const bytes = Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
  const refuse = (reason: string, remedy: string): never => {
    throw fail('image_unusable', { image, reason, remedy });
  };
  if (bytes.length > IMAGE_LIMITS.bytes)
    return refuse(`it has ${bytes.length} bytes, and ${IMAGE_LIMITS.bytes} are read`, 'send a smaller one');
  const header = readImageHeader(bytes);
  if ('reason' in header) return refuse(header.reason, READ);
  const { width, height } = header;
  if (width * height > IMAGE_LIMITS.pixels) {
    return refuse(
      `it has ${width} x ${height} pixels, and ${IMAGE_LIMITS.pixels} are read`,
      'send a smaller one',
    );
  }
  if (Math.max(width, height) > IMAGE_LIMITS.sides * Math.min(width, height)) {
    return refuse(
      `it has ${width} x ${height} pixels, and one side may be ${IMAGE_LIMITS.sides} times the other`,
      'send another part of it',
    );
  }
  return { bytes, pixels: width * height };
}
