/** The images of a job, read and bounded, with marks in the place of each that the template carries along. */
import { randomBytes } from 'node:crypto';
import type { GenerateJob, Turn } from '../../contract/job.ts';
import { fail, messageOf } from '../../lib/errors/svc-error.ts';
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
  if ('reason' in sight) throw fail('images_unread', { model: modelId, ...sight });
  if (asked.lane !== 'shared')
    throw fail('evidence_unavailable', { reason: 'a record does not cover its images' });
  const { job, urls } = withMarks(asked);
  if (urls.length > IMAGE_LIMITS.images)
    throw fail('images_too_many', { images: urls.length, limit: IMAGE_LIMITS.images });
  const files = urls.map((url, at) => bytesOf(url, at + 1));
  const parts: (readonly SeenPart[])[] = [];
  for (const [at, file] of files.entries()) {
    const seen = await sight.see(file).catch((error: unknown) => {
      throw fail('image_unusable', { image: at + 1, reason: messageOf(error) }, error);
    });
    const large = seen.find((part) => 'run' in part && part.run.isWhole && part.run.rows > mostWhole);
    if (large !== undefined) {
      throw fail('images_unread', {
        model: modelId,
        reason: `an image takes more than ${mostWhole} rows in one piece`,
        remedy: 'use a projector with smaller images',
      });
    }
    parts.push(seen);
  }
  return { job, images: new PromptImages(parts) };
}

function withMarks(job: GenerateJob): { readonly job: GenerateJob; readonly urls: readonly string[] } {
  const { prompt } = job;
  if (prompt.kind !== 'chat') return { job, urls: [] };
  const urls: string[] = [];
  const turns = prompt.turns.map(({ media = [], ...turn }): Turn => {
    let content = '';
    let from = 0;
    for (const medium of media) {
      if (medium.medium !== 'image') continue;
      content += turn.content.slice(from, medium.at) + markOf(urls.length);
      from = medium.at;
      urls.push(medium.url);
    }
    return { ...turn, content: content + turn.content.slice(from) };
  });
  return { job: { ...job, prompt: { ...prompt, turns } }, urls };
}

const READ = 'send it as PNG, JPEG, GIF or BMP';

/** Nothing is decoded whose header says too much. */
function bytesOf(url: string, image: number): Buffer {
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
  return bytes;
}
