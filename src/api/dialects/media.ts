/**
 * Parts of messages that are no text, for the models whose engine takes them. Images come with the request: an address
 * would make a server fetch what the client may not reach itself.
 */
import type { Turn, TurnMedium } from '../../contract/job.ts';
import type { Medium } from '../../engine/ports.ts';
import type { ServedModel } from '../models/served-model.ts';

/** A medium as it stands in a message, before its place in the text is known. */
export type FoundMedium =
  | { readonly medium: 'image'; readonly url: string }
  | { readonly medium: 'audio'; readonly data: string; readonly format: string };

/** Whether parts of a medium are read. */
export type Takes = (medium: Medium) => boolean;

export const onlyText: Takes = () => false;

/** What the engine of a model takes. */
export function takenBy(model: Pick<ServedModel, 'target'>): Takes {
  const { media = [] } = model.target().capabilities;
  return (medium) => media.includes(medium);
}

const DATA_URL = /^data:image\/[\w.+-]{1,64};base64,[A-Za-z0-9+/]+={0,2}$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const AUDIO_FORMATS: readonly unknown[] = ['wav', 'mp3', 'flac', 'ogg'];

/** An image from a data URL; null where it is none. */
export function imageAt(url: unknown): FoundMedium | null {
  return typeof url === 'string' && DATA_URL.test(url) ? { medium: 'image', url } : null;
}

export function audioOf(data: unknown, format: unknown): FoundMedium | null {
  if (typeof data !== 'string' || !BASE64.test(data) || !AUDIO_FORMATS.includes(format)) return null;
  return { medium: 'audio', data, format: String(format) };
}

export const IMAGE_UNREAD = 'is an image; send text, or name a model that reads images';
export const IMAGE_REMEDY = 'must hold the image itself, as a data URL such as "data:image/png;base64,…"';
export const AUDIO_REMEDY = 'must hold base64 data and a format: wav, mp3, flac or ogg';

/** The text of a turn, and the media that stand in it. */
export type MixedText = Pick<Turn, 'content' | 'media'>;

/** The parts in order, with nothing between those that follow a medium. */
export function mixed(parts: readonly (string | FoundMedium)[], separator = ''): MixedText {
  // Halves of a character may stand in two parts.
  if (parts.every((part) => typeof part === 'string'))
    return { content: parts.join(separator).toWellFormed() };
  let content = '';
  const media: TurnMedium[] = [];
  let isBehindText = false;
  for (const part of parts) {
    if (typeof part === 'string') content += (isBehindText ? separator : '') + part.toWellFormed();
    else media.push({ ...part, at: content.length });
    isBehindText = typeof part === 'string';
  }
  return { content, media };
}
