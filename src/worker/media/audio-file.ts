/**
 * Checks an audio file and makes a safe copy for the decoder. libmtmd's decoder (miniaudio) reserves memory for the
 * length that a header claims, so it gets only what was parsed here: with a rewritten header, without tags and other
 * metadata. The decoded audio is the same. Pure.
 */
import { AUDIO_LIMITS } from './limits.ts';

interface AudioFile {
  readonly seconds: number;
  readonly bytes: Buffer;
}

type Found = AudioFile | { readonly reason: string };

const UNREAD: readonly (readonly [name: string, isIt: (bytes: Buffer) => boolean])[] = [
  ['Ogg', (bytes) => begins(bytes, 'OggS')],
  ['MP4 or M4A', (bytes) => bytes.toString('latin1', 4, 8) === 'ftyp'],
  ['WebM', (bytes) => begins(bytes, '\x1aE\xdf\xa3')],
  ['AIFF', (bytes) => begins(bytes, 'FORM')],
];

/** The file, or the reason why it is unusable, as the end of a sentence. */
export function readAudio(bytes: Buffer): Found {
  if (bytes.length === 0) return { reason: 'it is empty' };
  const found = readWav(bytes) ?? readFlac(bytes) ?? readMp3(bytes);
  if (found !== null) return found;
  const [name] = UNREAD.find(([, isIt]) => isIt(bytes)) ?? [];
  return { reason: name === undefined ? 'it is no audio' : `it is ${name}` };
}

export const isAudio = (bytes: Buffer): boolean =>
  isWav(bytes) || begins(bytes, 'fLaC') || begins(bytes, 'ID3') || headerAt(bytes, 0) !== null;

const begins = (bytes: Buffer, text: string): boolean => bytes.toString('latin1', 0, text.length) === text;
const damaged = (format: string): Found => ({ reason: `its ${format} data is damaged` });

/** The decoder's resampler trusts the claimed rate. */
function timed(frames: number, rate: number, bytes: Buffer): Found {
  const { least, most } = AUDIO_LIMITS.rate;
  if (rate < least || rate > most)
    return { reason: `it has ${rate} samples a second, and ${least} to ${most} are read` };
  return { seconds: frames / rate, bytes };
}

const isWav = (bytes: Buffer): boolean => begins(bytes, 'RIFF') && bytes.toString('latin1', 8, 12) === 'WAVE';

/** Sample bits by encoding tag: integers, floating point, A-law and µ-law. */
const WAV_SAMPLES: ReadonlyMap<number, readonly number[]> = new Map([
  [1, [8, 16, 24, 32]],
  [3, [32, 64]],
  [6, [8]],
  [7, [8]],
]);
/** The encoding follows later. */
const WAV_EXTENSIBLE = 0xfffe;
const WAV_HEADER = 44;

interface WavFormat {
  readonly tag: number;
  readonly channels: number;
  readonly rate: number;
  readonly bits: number;
}

function readWav(bytes: Buffer): Found | null {
  if (!isWav(bytes)) return null;
  let format: WavFormat | null = null;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = bytes.toString('latin1', at, at + 4);
    const size = bytes.readUInt32LE(at + 4);
    const data = bytes.subarray(at + 8, at + 8 + size);
    if (name === 'fmt ') format = wavFormat(data);
    if (name === 'data') return format === null ? damaged('WAV') : describeWav(format, data);
    at += 8 + size + (size % 2);
  }
  return damaged('WAV');
}

function wavFormat(data: Buffer): WavFormat | null {
  if (data.length < 16) return null;
  const given = data.readUInt16LE(0);
  if (given === WAV_EXTENSIBLE && data.length < 26) return null;
  const tag = given === WAV_EXTENSIBLE ? data.readUInt16LE(24) : given;
  return {
    tag,
    channels: data.readUInt16LE(2),
    rate: data.readUInt32LE(4),
    bits: data.readUInt16LE(14),
  };
}

function describeWav({ tag, channels, rate, bits }: WavFormat, data: Buffer): Found {
  if (WAV_SAMPLES.get(tag)?.includes(bits) !== true)
    return { reason: `its WAV encoding (${tag}, ${bits} bits) is not read` };
  if (channels < 1 || channels > AUDIO_LIMITS.channels) return { reason: `it has ${channels} channels` };
  const frameBytes = (channels * bits) / 8;
  const frames = Math.floor(data.length / frameBytes);
  const header = Buffer.alloc(WAV_HEADER);
  header.write('RIFF', 'latin1');
  header.writeUInt32LE(WAV_HEADER - 8 + frames * frameBytes, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(tag, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE((rate * frameBytes) % 2 ** 32, 28);
  header.writeUInt16LE(frameBytes, 32);
  header.writeUInt16LE(bits, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(frames * frameBytes, 40);
  return timed(frames, rate, Buffer.concat([header, data.subarray(0, frames * frameBytes)]));
}

const STREAM_INFO = 34;
const LAST_BLOCK = 0x80;

function readFlac(bytes: Buffer): Found | null {
  if (!begins(bytes, 'fLaC')) return null;
  const info = bytes.subarray(8, 8 + STREAM_INFO);
  if (info.length < STREAM_INFO || ((bytes[4] ?? 0) & 0x7f) !== 0 || bytes.readUIntBE(5, 3) !== STREAM_INFO)
    return damaged('FLAC');
  let at = 4;
  for (let isLast = false; !isLast; ) {
    if (at + 4 > bytes.length) return damaged('FLAC');
    isLast = ((bytes[at] ?? 0) & LAST_BLOCK) !== 0;
    at += 4 + bytes.readUIntBE(at + 1, 3);
  }
  const properties = info.readBigUInt64BE(10);
  const rate = Number(properties >> 44n);
  const frames = Number(properties & 0xf_ffff_ffffn);
  if (frames === 0) return { reason: 'its FLAC header does not say how long it is' };
  const header = Buffer.from([...Buffer.from('fLaC'), LAST_BLOCK, 0, 0, STREAM_INFO]);
  return timed(frames, rate, Buffer.concat([header, info, bytes.subarray(at)]));
}

interface FrameHeader {
  readonly version: 1 | 2 | 2.5;
  readonly rate: number;
  readonly isMono: boolean;
  readonly hasChecksum: boolean;
  readonly bytes: number;
}

const BITRATES = {
  first: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  other: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
} as const;
const RATES = [44_100, 48_000, 32_000] as const;
const VERSIONS = [2.5, null, 2, 1] as const;
const LAYER_3 = 1;

/** Null: no frame begins here, or one with a free bit rate, which no encoder writes. */
function headerAt(bytes: Buffer, at: number): FrameHeader | null {
  const [sync, kind = 0, size = 0, mode = 0] = bytes.subarray(at, at + 4);
  const version = VERSIONS[(kind >> 3) & 3] ?? null;
  const base = RATES[(size >> 2) & 3];
  const isFrame = sync === 0xff && kind >= 0xe0 && ((kind >> 1) & 3) === LAYER_3 && at + 4 <= bytes.length;
  if (!isFrame || version === null || base === undefined) return null;
  const kilobits = BITRATES[version === 1 ? 'first' : 'other'][size >> 4] ?? 0;
  if (kilobits === 0) return null;
  const rate = version === 1 ? base : version === 2 ? base / 2 : base / 4;
  const length = Math.floor((frameSamples(version) * kilobits * 125) / rate) + ((size >> 1) & 1);
  return { version, rate, isMono: mode >> 6 === 3, hasChecksum: (kind & 1) === 0, bytes: length };
}

const frameSamples = (version: FrameHeader['version']): number => (version === 1 ? 1152 : 576);

const isAlike = (one: FrameHeader, other: FrameHeader | null): boolean =>
  other !== null && other.version === one.version && other.rate === one.rate && other.isMono === one.isMono;

/** Padding: the decoder reads a few bytes beyond a first frame. */
const BEHIND = 256;

function readMp3(bytes: Buffer): Found | null {
  const start = behindTag(bytes);
  const first = headerAt(bytes, start);
  if (first === null) return begins(bytes, 'ID3') ? damaged('MP3') : null;
  const frames = framesLike(first, withoutEndTag(bytes), start);
  if (frames.length === 0) return damaged('MP3');
  const length = frames.reduce((sum, frame) => sum + frame.length, 0);
  const room = Buffer.alloc(length + BEHIND);
  let at = 0;
  for (const frame of frames) at += frame.copy(room, at);
  const isCounted = writeCount(first, room, frames.length - 1);
  const file = room.subarray(0, length);
  return timed((frames.length - (isCounted ? 1 : 0)) * frameSamples(first.version), first.rate, file);
}

function behindTag(bytes: Buffer): number {
  if (!begins(bytes, 'ID3') || bytes.length < 10) return 0;
  const size = [6, 7, 8, 9].reduce((sum, at) => (sum << 7) | ((bytes[at] ?? 0) & 0x7f), 0);
  return 10 + size + ((bytes[5] ?? 0) & 0x10 ? 10 : 0);
}

function withoutEndTag(bytes: Buffer): Buffer {
  const tag = bytes.length - 128;
  const isTagged = tag > 0 && bytes.toString('latin1', tag, tag + 3) === 'TAG';
  return isTagged ? bytes.subarray(0, tag) : bytes;
}

/** All frames of this form that another one or the end follows, as the decoder finds them; other data is left out. */
function framesLike(first: FrameHeader, bytes: Buffer, start: number): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = start; at + 4 <= bytes.length; ) {
    const header = headerAt(bytes, at);
    const end = at + (header?.bytes ?? 0);
    // A header alone may occur in the middle of anything.
    const isFrame = isAlike(first, header) && (end === bytes.length || isAlike(first, headerAt(bytes, end)));
    if (isFrame) frames.push(bytes.subarray(at, end));
    at = isFrame ? end : at + 1;
  }
  return frames;
}

const sideBytes = ({ version, isMono }: FrameHeader): number =>
  version === 1 ? (isMono ? 17 : 32) : isMono ? 9 : 17;

function writeCount(first: FrameHeader, file: Buffer, frames: number): boolean {
  const at = 4 + (first.hasChecksum ? 2 : 0) + sideBytes(first);
  const tag = file.toString('latin1', at, at + 4);
  if (tag !== 'Xing' && tag !== 'Info') return false;
  if (((file[at + 7] ?? 0) & 1) !== 0) file.writeUInt32BE(frames, at + 8);
  return true;
}
