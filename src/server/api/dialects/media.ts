/**
 * Images and audio in messages. Images come within the request: fetching an address could reach servers that the
 * client itself may not reach.
 */
import type { Turn, TurnMedium } from '../../../contract/job.ts';
import type { Medium } from '../../engine/ports.ts';
import type { ServedModel } from '../models/served-model.ts';

export type FoundMedium =
  | { readonly medium: 'image'; readonly url: string }
  | { readonly medium: 'audio'; readonly data: string; readonly format: string };

export type Takes = (what: Medium | 'address', from?: 'user' | 'tool') => boolean;

export const onlyText: Takes = () => false;

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

export type MixedText = Pick<Turn, 'content' | 'media'>;

export function resultImage(url: unknown, takes: Takes): FoundMedium | null {
  return takes('image', 'tool') ? imageAt(url, takes) : null;
}

export function mixed(parts: readonly (string | FoundMedium)[], separator = ''): MixedText {
  // A surrogate pair may be split between two parts.
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
 * tools. They remain in the client's history, so refusing them would end the conversation. Each is reported by its
 * path.
 */
export class Omissions {
  readonly #paths: string[] = [];

  get paths(): readonly string[] {
    return this.#paths;
  }

  leave(path: string, type: string): void {
    this.#paths.push(`${path}.${type}`);
  }

  stand(path: string, type: string): string {
    this.leave(path, type);
    const kind = KINDS.find((each) => type.includes(each)) ?? 'part';
    return kind === 'image' ? IMAGE_NOTE : `[${kind} not shown: this model does not read it]`;
  }
}

const IMAGE_NOTE = '[image not shown: this model reads text]';
const KINDS = ['image', 'audio', 'file', 'document'] as const;
