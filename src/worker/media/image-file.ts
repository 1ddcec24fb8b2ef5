/**
 * Format and size of an image, from its header alone, because a decoder reserves memory for what a header claims.
 * Parsed like stb_image does, which decodes it afterwards, except WebP. Pure.
 */
import { isWebp, readWebp } from './webp-file.ts';

interface ImageHeader {
  readonly format: 'PNG' | 'JPEG' | 'GIF' | 'BMP' | 'WebP';
  readonly width: number;
  readonly height: number;
}

const UNREAD: readonly (readonly [name: string, isIt: (bytes: Buffer) => boolean])[] = [
  ['AVIF or HEIC', (bytes) => bytes.toString('latin1', 4, 8) === 'ftyp'],
  ['TIFF', (bytes) => begins(bytes, 'II*\0') || begins(bytes, 'MM\0*')],
  ['SVG', (bytes) => /^\s*<(?:\?xml|svg)/.test(bytes.toString('latin1', 0, 64))],
  ['PDF', (bytes) => begins(bytes, '%PDF')],
];

/** The header, or the reason why it is unusable, as the end of a sentence. */
export function readImageHeader(bytes: Buffer): ImageHeader | { readonly reason: string } {
  if (bytes.length === 0) return { reason: 'it is empty' };
  for (const read of [readPng, readJpeg, readGif, readBmp, readWebpSize]) {
    const found = read(bytes);
    if (found === null) continue;
    const { format, width, height } = found;
    if (width > 0 && height > 0) return found;
    return { reason: `its ${format} header is damaged` };
  }
  const [name] = UNREAD.find(([, isIt]) => isIt(bytes)) ?? [];
  return { reason: name === undefined ? 'it is no image' : `it is ${name}` };
}

const begins = (bytes: Buffer, text: string): boolean => bytes.toString('latin1', 0, text.length) === text;

const DAMAGED = { width: 0, height: 0 };

function readPng(bytes: Buffer): ImageHeader | null {
  if (!begins(bytes, '\x89PNG\r\n\x1a\n')) return null;
  if (bytes.length < 24 || bytes.toString('latin1', 12, 16) !== 'IHDR') return { format: 'PNG', ...DAMAGED };
  return { format: 'PNG', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

function readGif(bytes: Buffer): ImageHeader | null {
  if (!begins(bytes, 'GIF87a') && !begins(bytes, 'GIF89a')) return null;
  if (bytes.length < 10) return { format: 'GIF', ...DAMAGED };
  return { format: 'GIF', width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
}

/** OS/2's short header, which begins with its length. */
const CORE_HEADER = 12;

function readBmp(bytes: Buffer): ImageHeader | null {
  if (!begins(bytes, 'BM')) return null;
  if (bytes.length < 26) return { format: 'BMP', ...DAMAGED };
  if (bytes.readUInt32LE(14) === CORE_HEADER)
    return { format: 'BMP', width: bytes.readUInt16LE(18), height: bytes.readUInt16LE(20) };
  // A negative height means that its rows are stored from the top down.
  return {
    format: 'BMP',
    width: Math.abs(bytes.readInt32LE(18)),
    height: Math.abs(bytes.readInt32LE(22)),
  };
}

function readWebpSize(bytes: Buffer): ImageHeader | null {
  if (!isWebp(bytes)) return null;
  const { width, height } = readWebp(bytes) ?? DAMAGED;
  return { format: 'WebP', width, height };
}

function readJpeg(bytes: Buffer): ImageHeader | null {
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8 || bytes[2] !== 0xff) return null;
  let at = 2;
  for (;;) {
    // Any filling may precede the code of a marker.
    while (at < bytes.length && bytes[at] !== 0xff) at += 1;
    while (at < bytes.length && bytes[at] === 0xff) at += 1;
    const marker = bytes[at];
    if (marker === undefined || at + 8 > bytes.length) return { format: 'JPEG', ...DAMAGED };
    if (marker >= 0xc0 && marker <= 0xc2)
      return { format: 'JPEG', width: bytes.readUInt16BE(at + 6), height: bytes.readUInt16BE(at + 4) };
    const hasLength =
      marker >= 0xc4 && marker !== 0xd8 && marker !== 0xd9 && !(marker >= 0xd0 && marker <= 0xd7);
    if (!hasLength) return { format: 'JPEG', ...DAMAGED };
    at += 1 + bytes.readUInt16BE(at + 1);
  }
}
