/**
 * Reads the images and audio of a job within bounds, and puts a mark for each into the conversation, which the
 * template carries along.
 */
import { randomBytes } from 'node:crypto';
import type { GenerateJob, Turn, TurnMedium } from '../../contract/job.ts';
import { fail, isFailure, isSvcError, errorMessage } from '../../lib/errors/svc-error.ts';
import type { PromptPiece } from '../prompt/guard.ts';
import { readAudio } from './audio-file.ts';
import { readImageHeader } from './image-file.ts';
import { AUDIO_LIMITS, IMAGE_LIMITS } from './limits.ts';
import type { MediaEncoder, PromptRun, MediumPiece } from './media-encoder.ts';
import { rowTokens } from './rows.ts';

/** The encoder, or the reason why the model has none, as parts of a sentence. */
export type MediaInput = MediaEncoder | { readonly reason: string; readonly remedy: string };

type Medium = TurnMedium['medium'];

export const hasMedia = ({ prompt }: GenerateJob): boolean =>
  prompt.kind === 'chat' && prompt.turns.some(({ media = [] }) => media.length > 0);

/** Random, so that no client text matches it. Letters and digits only, because no template filter changes them. */
const MARK = `hearthmedium${randomBytes(16).toString('hex')}`;
const MARKS = new RegExp(`${MARK}x(\\d+)x`);

interface ReadMedium {
  readonly medium: Medium;
  readonly parts: readonly MediumPiece[];
}

export class PromptMedia {
  readonly #media: readonly ReadMedium[];

  constructor(media: readonly ReadMedium[]) {
    this.#media = media;
  }

  get marks(): readonly string[] {
    return this.#media.map((_, at) => mediumMark(at));
  }

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
    // The library also tokenises the texts on both sides of an image separately.
    const behind = { ...piece, text: piece.text.slice(found.index + mark.length), continues: false };
    const { medium, parts } = this.#media[Number(place)] ?? { medium: 'image', parts: [] };
    for (const part of parts) if ('run' in part) runs.push(part.run);
    const tokens = parts.map((part) => ('tokens' in part ? part.tokens : rowTokens(part.run)));
    const shown: PromptPiece = { text: `[${medium}]`, plain: true, continues: true, tokens };
    return [...(before.text === '' ? [] : [before]), shown, ...this.#placedIn(behind, runs)];
  }
}

const mediumMark = (place: number): string => `${MARK}x${place}x`;

interface MarkedJob {
  readonly job: GenerateJob;
  readonly media: PromptMedia;
}

interface Reading {
  readonly mediaInput: MediaInput;
  readonly modelId: string;
  readonly mostWhole: number;
}

export async function readMedia(asked: GenerateJob, reading: Reading): Promise<MarkedJob> {
  if (asked.lane !== 'shared')
    throw fail('evidence_unavailable', { reason: 'a record does not cover images or audio' });
  const sent = sentMedia(asked);
  requireFew(sent);
  const files = readFiles(sent);
  const read: ReadMedium[] = [];
  const words: string[] = [];
  for (const [at, each] of sent.entries()) {
    const parts = await partsOr(each, async () => {
      const room = roomFor(each, reading);
      const file = files[at] ?? new Error('each has a file or a failure');
      if (!Buffer.isBuffer(file)) throw file;
      return readParts(file, each, { ...reading, room });
    });
    words.push(typeof parts === 'string' ? parts : mediumMark(read.length));
    if (typeof parts !== 'string') read.push({ medium: each.medium, parts });
  }
  return { job: withWords(asked, words), media: new PromptMedia(read) };
}

interface SentMedium {
  readonly medium: Medium;
  readonly number: number;
  readonly given: TurnMedium;
  readonly fromTool: boolean;
}

function sentMedia({ prompt }: GenerateJob): SentMedium[] {
  if (prompt.kind !== 'chat') return [];
  const counts: Record<Medium, number> = { image: 0, audio: 0 };
  return prompt.turns.flatMap(({ role, media = [] }) =>
    media.map((given): SentMedium => {
      const { medium } = given;
      counts[medium] += 1;
      return { medium, number: counts[medium], given, fromTool: role === 'tool' };
    }),
  );
}

function requireFew(sent: readonly SentMedium[]): void {
  const images = sent.filter(({ medium }) => medium === 'image').length;
  if (images > IMAGE_LIMITS.images) throw fail('images_too_many', { images, limit: IMAGE_LIMITS.images });
  const audio = sent.length - images;
  const reason = `a request may have ${AUDIO_LIMITS.files}`;
  if (audio > AUDIO_LIMITS.files) throw fail('audio_unusable', { audio, reason, remedy: 'send fewer' });
}

function unusable({ medium, number }: SentMedium, reason: string, remedy?: string, cause?: unknown): Error {
  const detail = { reason, ...(remedy === undefined ? {} : { remedy }) };
  return medium === 'image'
    ? fail('image_unusable', { image: number, ...detail }, cause)
    : fail('audio_unusable', { audio: number, ...detail }, cause);
}

function unread(medium: Medium, detail: { model: string; reason: string; remedy: string }): Error {
  return medium === 'image' ? fail('images_unread', detail) : fail('audio_unread', detail);
}

function roomFor({ medium }: SentMedium, { mediaInput, modelId }: Reading): MediaEncoder {
  if ('reason' in mediaInput) throw unread(medium, { model: modelId, ...mediaInput });
  if (mediaInput.reads(medium)) return mediaInput;
  const [reason, remedy] =
    medium === 'image'
      ? ['its projector reads audio only', 'choose a model that reads images']
      : ['its projector reads images only', 'choose a model that hears audio'];
  throw unread(medium, { model: modelId, reason, remedy });
}

/** A client cannot change the result of a tool, so a note replaces unusable media there. */
async function partsOr(
  { medium, fromTool }: SentMedium,
  read: () => Promise<readonly MediumPiece[]>,
): Promise<readonly MediumPiece[] | string> {
  try {
    return await read();
  } catch (error) {
    const isNoted = isFailure(error, 'image_unusable', 'images_unread', 'audio_unusable', 'audio_unread');
    if (!fromTool || !isNoted) throw error;
    return `[${medium} not shown: ${error.detail.reason}]`;
  }
}

async function readParts(
  file: Buffer,
  sent: SentMedium,
  { room, modelId, mostWhole }: Pick<Reading, 'modelId' | 'mostWhole'> & { readonly room: MediaEncoder },
): Promise<readonly MediumPiece[]> {
  const parts = await room.see(file).catch((error: unknown) => {
    throw unusable(sent, errorMessage(error), undefined, error);
  });
  const large = parts.find((part) => 'run' in part && part.run.isWhole && part.run.rows > mostWhole);
  if (large === undefined) return parts;
  throw unread(sent.medium, {
    model: modelId,
    reason: `it takes more than ${mostWhole} rows in one piece`,
    remedy: 'use a projector that makes fewer',
  });
}

function withWords(job: GenerateJob, words: readonly string[]): GenerateJob {
  const { prompt } = job;
  if (prompt.kind !== 'chat') return job;
  let place = 0;
  const turns = prompt.turns.map(({ media = [], ...turn }): Turn => {
    let content = '';
    let from = 0;
    for (const { at } of media) {
      content += turn.content.slice(from, at) + (words[place] ?? '');
      from = at;
      place += 1;
    }
    return { ...turn, content: content + turn.content.slice(from) };
  });
  return { ...job, prompt: { ...prompt, turns } };
}

/**
 * Each file, or its error. Decoding is refused if the size in its header is too large, alone or with the files before
 * it.
 */
function readFiles(sent: readonly SentMedium[]): (Buffer | Error)[] {
  const left: Record<Medium, number> = {
    image: IMAGE_LIMITS.pixelsOfAll,
    audio: AUDIO_LIMITS.secondsOfAll,
  };
  return sent.map((each) => {
    try {
      const { bytes, size } = each.medium === 'image' ? imageFile(each) : audioFile(each);
      if (size > left[each.medium]) throw tooMuch(each);
      left[each.medium] -= size;
      return bytes;
    } catch (error) {
      if (isSvcError(error)) return error;
      throw error;
    }
  });
}

function tooMuch(sent: SentMedium): Error {
  return sent.medium === 'image'
    ? unusable(
        sent,
        `it and those before it have more than ${IMAGE_LIMITS.pixelsOfAll} pixels`,
        'send fewer or smaller ones',
      )
    : unusable(
        sent,
        `it and those before it last longer than ${AUDIO_LIMITS.secondsOfAll} s`,
        'send fewer or shorter ones',
      );
}

interface SizedFile {
  readonly bytes: Buffer;
  readonly size: number;
}

function decodeBytes(sent: SentMedium, base64: string, most: number): Buffer {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length <= most) return bytes;
  throw unusable(sent, `it has ${bytes.length} bytes, and ${most} are read`, 'send a smaller one');
}

const READ = {
  image: 'send it as PNG, JPEG, GIF, BMP or WebP',
  audio: 'send it as WAV, MP3 or FLAC',
} as const;

function imageFile(sent: SentMedium): SizedFile {
  const { given } = sent;
  const url = given.medium === 'image' ? given.url : '';
  if (!url.startsWith('data:')) throw unusable(sent, 'it is not here', 'send the image itself');
  const bytes = decodeBytes(sent, url.slice(url.indexOf(',') + 1), IMAGE_LIMITS.bytes);
  const header = readImageHeader(bytes);
  if ('reason' in header) throw unusable(sent, header.reason, READ.image);
  const { width, height } = header;
  const shape = `it has ${width} x ${height} pixels`;
  if (width * height > IMAGE_LIMITS.pixels)
    throw unusable(sent, `${shape}, and ${IMAGE_LIMITS.pixels} are read`, 'send a smaller one');
  if (Math.max(width, height) > IMAGE_LIMITS.sides * Math.min(width, height)) {
    throw unusable(
      sent,
      `${shape}, and one side may be ${IMAGE_LIMITS.sides} times the other`,
      'send another part of it',
    );
  }
  return { bytes, size: width * height };
}

function audioFile(sent: SentMedium): SizedFile {
  const { given } = sent;
  const found = readAudio(decodeBytes(sent, given.medium === 'audio' ? given.data : '', AUDIO_LIMITS.bytes));
  if ('reason' in found) throw unusable(sent, found.reason, READ.audio);
  const { seconds, bytes } = found;
  const { least, most } = AUDIO_LIMITS.seconds;
  if (seconds < least) throw unusable(sent, `it is shorter than ${least} s`, 'send a longer one');
  if (seconds > most)
    throw unusable(sent, `it lasts ${Math.ceil(seconds)} s, and ${most} are read`, 'send a part of it');
  return { bytes, size: seconds };
}
