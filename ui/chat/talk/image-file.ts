/** Checks an image before it is decoded: a file of a few kilobytes may unpack to gigabytes. */

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** The service's limit. */
export const MOST_PIXELS = 40_000_000;
const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

export const imageSize = (file: Uint8Array): ImageSize | null =>
  PNG.every((byte, at) => file[at] === byte) ? pngSize(file) : jpegSize(file);

const dataView = (file: Uint8Array): DataView => new DataView(file.buffer, file.byteOffset, file.byteLength);

function pngSize(file: Uint8Array): ImageSize | null {
  if (file.length < 24) return null;
  return { width: dataView(file).getUint32(16), height: dataView(file).getUint32(20) };
}

/** A JPEG is a list of segments with lengths; those that begin a frame contain the size. */
function jpegSize(file: Uint8Array): ImageSize | null {
  if (file[0] !== 0xff || file[1] !== 0xd8) return null;
  const view = dataView(file);
  for (let at = 2; at + 9 <= file.length; ) {
    if (file[at] !== 0xff) return null;
    const marker = file[at + 1] ?? 0;
    if (isFrame(marker)) return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2);
  }
  return null;
}

const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

const DATA_URL = /^data:image\/(?:png|jpeg);base64,([A-Za-z0-9+/]+={0,2})$/;
/** Length of a data URL; attached images are never longer. */
const MOST_CHARS = 4 * 1024 * 1024;

export function bytesOfUrl(url: string): Uint8Array<ArrayBuffer> | null {
  const [, base64] = url.length > MOST_CHARS ? [] : (DATA_URL.exec(url) ?? []);
  if (base64 === undefined) return null;
  try {
    const file = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const size = imageSize(file);
    return size !== null && size.width * size.height <= MOST_PIXELS ? file : null;
  } catch {
    return null;
  }
}

/** Keeps the aspect ratio; no side is longer than `most`. */
export function within({ width, height }: ImageSize, most: number): ImageSize {
  const share = Math.min(1, most / Math.max(width, height));
  return { width: Math.max(1, Math.round(width * share)), height: Math.max(1, Math.round(height * share)) };
}
