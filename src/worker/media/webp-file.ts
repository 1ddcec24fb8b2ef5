/**
 * The picture in a WebP file: the image itself, or the first frame of an animation. Everything else (transparency,
 * colour profiles, metadata) is dropped, as stb_image does for other formats, so that the decoder gets nothing whose
 * size was not checked. Pure.
 */

interface WebpPicture {
  readonly width: number;
  readonly height: number;
  readonly file: Buffer;
}

const FILE_HEADER = 12;
const CHUNK_HEADER = 8;
const FRAME_HEADER = 16;

export const isWebp = (bytes: Buffer): boolean => nameAt(bytes, 0) === 'RIFF' && nameAt(bytes, 8) === 'WEBP';

export function readWebp(bytes: Buffer): WebpPicture | null {
  return pictureIn(bytes, FILE_HEADER);
}

const nameAt = (bytes: Buffer, at: number): string => bytes.toString('latin1', at, at + 4);

function pictureIn(bytes: Buffer, from: number): WebpPicture | null {
  for (let at = from; at + CHUNK_HEADER <= bytes.length; ) {
    const name = nameAt(bytes, at);
    const size = bytes.readUInt32LE(at + 4);
    const data = bytes.subarray(at + CHUNK_HEADER, at + CHUNK_HEADER + size);
    if (name === 'ANMF') return from === FILE_HEADER ? pictureIn(data, FRAME_HEADER) : null;
    const found = SIZES[name]?.(data);
    if (found !== undefined) return found === null ? null : { ...found, file: wrapChunk(name, data) };
    at += CHUNK_HEADER + size + (size % 2);
  }
  return null;
}

type Size = Pick<WebpPicture, 'width' | 'height'>;

const SIZES: Readonly<Record<string, (data: Buffer) => Size | null>> = {
  'VP8 ': (data) => {
    const isKeyFrame = data.length >= 10 && ((data[0] ?? 1) & 1) === 0 && data.readUIntBE(3, 3) === 0x9d012a;
    return isKeyFrame
      ? { width: data.readUInt16LE(6) & 0x3fff, height: data.readUInt16LE(8) & 0x3fff }
      : null;
  },
  VP8L: (data) => {
    if (data.length < 5 || data[0] !== 0x2f) return null;
    const bits = data.readUInt32LE(1);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  },
};

function wrapChunk(name: string, data: Buffer): Buffer {
  const padding = data.length % 2;
  const header = Buffer.alloc(FILE_HEADER + CHUNK_HEADER);
  header.write('RIFF', 'latin1');
  header.writeUInt32LE(4 + CHUNK_HEADER + data.length + padding, 4);
  header.write(`WEBP${name}`, 8, 'latin1');
  header.writeUInt32LE(data.length, 16);
  return Buffer.concat([header, data, Buffer.alloc(padding)]);
}
