/** Audio files made of nothing but numbers: noise under a tone, which no two seeds share. */
import { seededRandom, type Random } from '../../tools/gguf/random.ts';

export interface Sound {
  readonly seconds: number;
  readonly rate?: number;
  readonly channels?: number;
  readonly seed?: number;
}

/** Between -1 and 1; the channels of a frame one after the other. */
function samplesOf({ seconds, rate = 16_000, channels = 1, seed = 1 }: Sound): Float64Array {
  const random = seededRandom(seed);
  const tone = 200 + 37 * seed;
  return Float64Array.from({ length: Math.round(seconds * rate) * channels }, (_, at) => {
    const time = Math.floor(at / channels) / rate;
    return 0.5 * Math.sin(2 * Math.PI * tone * time) + (0.2 * random.below(1_000)) / 1_000 - 0.1;
  });
}

interface Encoding {
  readonly tag: number;
  readonly bits: number;
  readonly write: (bytes: Buffer, at: number, sample: number) => void;
}

const whole = (bits: number, sample: number): number => Math.round(sample * (2 ** (bits - 1) - 1));

export const WAV_ENCODINGS = {
  '8 bits': { tag: 1, bits: 8, write: (bytes, at, x) => void bytes.writeUInt8(whole(8, x) + 128, at) },
  '16 bits': { tag: 1, bits: 16, write: (bytes, at, x) => void bytes.writeInt16LE(whole(16, x), at) },
  '24 bits': { tag: 1, bits: 24, write: (bytes, at, x) => void bytes.writeIntLE(whole(24, x), at, 3) },
  '32 bits': { tag: 1, bits: 32, write: (bytes, at, x) => void bytes.writeInt32LE(whole(32, x), at) },
  float: { tag: 3, bits: 32, write: (bytes, at, x) => void bytes.writeFloatLE(x, at) },
  double: { tag: 3, bits: 64, write: (bytes, at, x) => void bytes.writeDoubleLE(x, at) },
  'A-law': { tag: 6, bits: 8, write: (bytes, at, x) => void bytes.writeUInt8(whole(8, x) & 0xff, at) },
  'µ-law': { tag: 7, bits: 8, write: (bytes, at, x) => void bytes.writeUInt8(whole(8, x) & 0xff, at) },
} as const satisfies Readonly<Record<string, Encoding>>;

export interface WavOptions extends Sound {
  readonly encoding?: keyof typeof WAV_ENCODINGS;
  /** With the format in its long form, a list of words before the samples and one behind. */
  readonly isLong?: boolean;
}

export function wavOf({ encoding = '16 bits', isLong = false, ...sound }: WavOptions): Buffer {
  const { rate = 16_000, channels = 1 } = sound;
  const { tag, bits, write }: Encoding = WAV_ENCODINGS[encoding];
  const samples = samplesOf(sound);
  const data = Buffer.alloc((samples.length * bits) / 8);
  for (const [at, sample] of samples.entries()) write(data, (at * bits) / 8, sample);
  const format = Buffer.alloc(isLong ? 40 : 16);
  format.writeUInt16LE(isLong ? 0xfffe : tag, 0);
  format.writeUInt16LE(channels, 2);
  format.writeUInt32LE(rate, 4);
  format.writeUInt32LE((rate * channels * bits) / 8, 8);
  format.writeUInt16LE((channels * bits) / 8, 12);
  format.writeUInt16LE(bits, 14);
  if (isLong) {
    format.writeUInt16LE(22, 16);
    format.writeUInt16LE(bits, 18);
    format.writeUInt16LE(tag, 24);
    format.write('\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71', 26, 'latin1');
  }
  const words = isLong ? [chunk('LIST', Buffer.from('INFOodd'))] : [];
  return chunk(
    'RIFF',
    Buffer.concat([Buffer.from('WAVE'), chunk('fmt ', format), ...words, chunk('data', data), ...words]),
  );
}

function chunk(name: string, data: Buffer): Buffer {
  const header = Buffer.alloc(8);
  header.write(name, 'latin1');
  header.writeUInt32LE(data.length, 4);
  return Buffer.concat([header, data, Buffer.alloc(data.length % 2)]);
}

/** Bits, the most significant first. */
class Bits {
  readonly #bytes: number[] = [];
  #used = 0;

  write(value: number, bits: number): this {
    for (let bit = bits - 1; bit >= 0; bit -= 1) {
      if (this.#used % 8 === 0) this.#bytes.push(0);
      const last = this.#bytes.length - 1;
      this.#bytes[last] =
        (this.#bytes[last] ?? 0) | ((Math.floor(value / 2 ** bit) % 2) << (7 - (this.#used % 8)));
      this.#used += 1;
    }
    return this;
  }

  get bytes(): Buffer {
    return Buffer.from(this.#bytes);
  }
}

function checksum(bytes: Buffer, { bits, polynomial }: { bits: 8 | 16; polynomial: number }): number {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << (bits - 8);
    for (let bit = 0; bit < 8; bit += 1)
      sum = (sum & (1 << (bits - 1)) ? (sum << 1) ^ polynomial : sum << 1) & (2 ** bits - 1);
  }
  return sum;
}

const FLAC_BLOCK = 4096;

/** Without compression. `frames`: what the header claims in place of the truth. */
export function flacOf({ frames, ...sound }: Sound & { readonly frames?: number }): Buffer {
  const { rate = 16_000, channels = 1 } = sound;
  const samples = samplesOf(sound);
  const all = samples.length / channels;
  const info = new Bits()
    .write(FLAC_BLOCK, 16)
    .write(FLAC_BLOCK, 16)
    .write(0, 48)
    .write(rate, 20)
    .write(channels - 1, 3)
    .write(15, 5)
    .write(frames ?? all, 36).bytes;
  const words = Buffer.from('no words');
  const parts = [
    Buffer.from('fLaC'),
    Buffer.from([0, 0, 0, 34]),
    info,
    Buffer.alloc(16),
    Buffer.from([0x80 | 2, 0, 0, words.length]),
    words,
  ];
  for (let block = 0; block * FLAC_BLOCK < all; block += 1) {
    const size = Math.min(FLAC_BLOCK, all - block * FLAC_BLOCK);
    const header = new Bits()
      .write(0xfff8, 16)
      .write(7, 4)
      .write(0, 4)
      .write(channels - 1, 4)
      .write(0, 4)
      // Fewer than 128 blocks: one byte.
      .write(block, 8)
      .write(size - 1, 16).bytes;
    const body = [header, Buffer.from([checksum(header, { bits: 8, polynomial: 0x07 })])];
    for (let channel = 0; channel < channels; channel += 1) {
      const data = Buffer.alloc(1 + 2 * size);
      data[0] = 2;
      for (let at = 0; at < size; at += 1) {
        const sample = samples[(block * FLAC_BLOCK + at) * channels + channel] ?? 0;
        data.writeInt16BE(whole(16, sample), 1 + 2 * at);
      }
      body.push(data);
    }
    const frame = Buffer.concat(body);
    const sum = Buffer.alloc(2);
    sum.writeUInt16BE(checksum(frame, { bits: 16, polynomial: 0x8005 }));
    parts.push(frame, sum);
  }
  return Buffer.concat(parts);
}

/** Of version 1, mono, 32 kHz, 64 kbit/s. */
const MP3 = { header: [0xff, 0xfb, 0x58, 0xc0], bytes: 288, side: 17, samples: 1152, rate: 32_000 } as const;

export interface Mp3Options {
  readonly seconds: number;
  readonly seed?: number;
  /** In a first frame of tags. */
  readonly claimed?: number;
  /** Tags before and behind the frames. */
  readonly isTagged?: boolean;
}

/** Frames of noise: what the bits of a spectrum say is up to a random generator. */
export function mp3Of({ seconds, seed = 1, claimed, isTagged = false }: Mp3Options): Buffer {
  const random = seededRandom(seed);
  const frames = Array.from({ length: Math.ceil((seconds * MP3.rate) / MP3.samples) }, () =>
    mp3Frame(random),
  );
  const tag = Buffer.alloc(claimed === undefined ? 0 : MP3.bytes);
  if (claimed !== undefined) {
    tag.set(MP3.header);
    tag.write('Info', 4 + MP3.side, 'latin1');
    tag.writeUInt32BE(1, 8 + MP3.side);
    tag.writeUInt32BE(claimed, 12 + MP3.side);
  }
  const words = Buffer.from(`ID3\x03\0\0\0\0\0\x10a word of ID3 v2`, 'latin1');
  const behind = Buffer.alloc(128);
  behind.write('TAG', 'latin1');
  return Buffer.concat([...(isTagged ? [words] : []), tag, ...frames, ...(isTagged ? [behind] : [])]);
}

function mp3Frame({ below }: Random): Buffer {
  const bits = new Bits().write(0, 9 + 5 + 4);
  for (let granule = 0; granule < 2; granule += 1) {
    // Of the spectrum: its bits, pairs of large values, loudness, and the code of each of its three parts.
    bits.write(1_000, 12).write(60, 9).write(165, 8).write(0, 4).write(0, 1);
    bits.write(7, 5).write(7, 5).write(7, 5).write(7, 4).write(7, 3).write(0, 3);
  }
  const frame = Buffer.from(Array.from({ length: MP3.bytes }, () => below(256)));
  frame.set(MP3.header);
  frame.set(bits.bytes, 4);
  return frame;
}
