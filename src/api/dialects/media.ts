/**
 * Parts of messages that are no text, for the models whose engine takes them. Images come with the request: an address
 * would make a server fetch what the client may not reach itself.
 */
import type { Turn, TurnMedium } from '../../contract/job.ts';
import type { Medium } from '../../engine/ports.ts';
import type { ServedModel } from '../models/served-model.ts';

/** A medium of a message, before its position in the text is known. */
export type FoundMedium =
  | { readonly medium: 'image'; readonly url: string }
  | { readonly medium: 'audio'; readonly data: string; readonly format: string };

/** Reports whether media, or addresses of images, are read in messages of users or in results of tools. */
export type Takes = (what: Medium | 'address', from?: 'user' | 'tool') => boolean;

export const onlyText: Takes = () => false;

/** The media that the engine of a model takes; `fetches`: this service fetches addresses. */
export function takenBy(model: Pick<ServedModel, 'target'>, fetches: boolean): Takes {
  const { engine, capabilities } = model.target();
  const { media = [] } = capabilities;
  return (what, from = 'user') => {
    // Other services refuse a request that has images in results of tools.
    if (from === 'tool' && engine !== 'local') return false;
    return what === 'address' ? fetches : media.includes(what);
  };
}

const DATA_URL = /^data:image\/[\w.+-]{1,64};base64,[A-Za-z0-9+/]+={0,2}$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const AUDIO_FORMATS: readonly unknown[] = ['wav', 'mp3', 'flac', 'ogg'];

/** An image from a data URL, or from an address if those are fetched; else null. */
export function imageAt(url: unknown, takes: Takes): FoundMedium | null {
  if (typeof url !== 'string') return null;
  const isFound = DATA_URL.test(url) || (takes('address') && isAddress(url));
  return isFound ? { medium: 'image', url } : null;
}

const MOST_ADDRESS_CHARS = 4096;

const isAddress = (url: string): boolean =>
  url.length <= MOST_ADDRESS_CHARS && /^https?:\/\//i.test(url) && URL.canParse(url);

export function inlineAudio(data: unknown, format: unknown): FoundMedium | null {
  if (typeof data !== 'string' || !BASE64.test(data) || !AUDIO_FORMATS.includes(format)) return null;
  return { medium: 'audio', data, format: String(format) };
}

export const IMAGE_UNREAD =
  'is an image; send text, or name a model that reads images (one installed with its projector: hearth import FILE --projector MMPROJ)';
export const AUDIO_UNREAD =
  'is audio; send text, or name a model that hears audio (one installed with its projector: hearth import FILE --projector MMPROJ)';
export const IMAGE_REMEDY =
  'must hold the image itself, as a data URL such as "data:image/png;base64,…"; only a service with SVC_FETCH_IMAGES=1 fetches addresses';
export const AUDIO_REMEDY = 'must hold base64 data and a format: wav, mp3, flac or ogg';

/** The text of a turn, and the media that stand in it. */
export type MixedText = Pick<Turn, 'content' | 'media'>;

/** An image among the results of a tool; null: what the model cannot read gets a note in its place. */
export function resultImage(url: unknown, takes: Takes): FoundMedium | null {
  return takes('image', 'tool') ? imageAt(url, takes) : null;
}

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

/**
 * Parts of a client's history that the model does not read: media in tool results, and items of a provider's own
 * tools. They stay in the history, and refusing them would end the conversation. Each is reported by its path.
 */
export class Omissions {
  readonly #paths: string[] = [];

  get paths(): readonly string[] {
    return this.#paths;
  }

  /** It is left out. */
  leave(path: string, type: unknown): void {
    this.#paths.push(`${path}.${String(type)}`);
  }

  /** The words that stand in its place. */
  stand(path: string, type: unknown): string {
    this.leave(path, type);
    const kind = KINDS.find((each) => String(type).includes(each)) ?? 'part';
    return kind === 'image' ? IMAGE_NOTE : `[${kind} not shown: this model does not read it]`;
  }
}

const IMAGE_NOTE = '[image not shown: this model reads text]';
const KINDS = ['image', 'audio', 'file', 'document'] as const;
