import { describe, expect, it } from 'vitest';
import { flacOf, mp3Of, WAV_ENCODINGS, wavOf } from '../../../test/support/audio.ts';
import { stripes } from '../../../test/support/images.ts';
import { seededRandom } from '../../../tools/gguf/random.ts';
import { isAudio, readAudio } from './audio-file.ts';
import { AUDIO_LIMITS } from './limits.ts';

const latin = (text: string): Buffer => Buffer.from(text, 'latin1');
const encodings = Object.keys(WAV_ENCODINGS) as (keyof typeof WAV_ENCODINGS)[];
/** Of an MP3 that lasts half a second. */
const FRAMES = 14;
const MP3_SECONDS = (FRAMES * 1152) / 32_000;

const SOUND: readonly (readonly [name: string, file: Buffer, seconds: number])[] = [
  ...encodings.map((encoding) => [`WAV, ${encoding}`, wavOf({ seconds: 0.5, encoding }), 0.5] as const),
  ['WAV, stereo', wavOf({ seconds: 0.5, channels: 2, rate: 8_000 }), 0.5],
  ['WAV in its long form', wavOf({ seconds: 0.5, isLong: true }), 0.5],
  ['FLAC', flacOf({ seconds: 0.5 }), 0.5],
  ['FLAC, stereo', flacOf({ seconds: 0.5, channels: 2, rate: 48_000 }), 0.5],
  ['MP3', mp3Of({ seconds: 0.5 }), MP3_SECONDS],
  ['MP3 with tags', mp3Of({ seconds: 0.5, isTagged: true }), MP3_SECONDS],
  ['MP3 with a count', mp3Of({ seconds: 0.5, claimed: FRAMES }), MP3_SECONDS],
];

describe('an audio file', () => {
  it.each(SOUND)('%s says how long it is', (_, file, seconds) => {
    expect(isAudio(file)).toBe(true);
    expect(readAudio(file)).toMatchObject({ seconds });
  });

  it.each([
    ['nothing', latin(''), 'it is empty'],
    ['text', latin('hello there'), 'it is no audio'],
    ['an image', stripes(3, 3), 'it is no audio'],
    ['Ogg', latin('OggS............'), 'it is Ogg'],
    ['M4A', latin('....ftypM4A '), 'it is MP4 or M4A'],
    ['AIFF', latin('FORM....AIFF'), 'it is AIFF'],
    ['WAV without samples', latin('RIFF....WAVE'), 'its WAV data is damaged'],
    ['an ID3 tag alone', latin('ID3\x03\0\0\0\0\0\x01.'), 'its MP3 data is damaged'],
    [
      'FLAC behind an ID3 tag',
      latin(`ID3\x03\0\0\0\0\0\0${flacOf({ seconds: 1 }).toString('latin1')}`),
      'its MP3 data is damaged',
    ],
    [
      'FLAC of unknown length',
      flacOf({ seconds: 1, frames: 0 }),
      'its FLAC header does not say how long it is',
    ],
  ])('of %s is refused with the reason', (_, file, reason) => {
    expect(readAudio(file)).toEqual({ reason });
  });

  it.each([1, AUDIO_LIMITS.rate.least - 1, AUDIO_LIMITS.rate.most + 1])(
    'with %i samples a second is refused: the decoder would make sixteen thousand of them',
    (rate) => {
      const file = wavOf({ seconds: 0.5 });
      file.writeUInt32LE(rate, 24);
      expect(readAudio(file)).toEqual({ reason: expect.stringContaining(`${rate} samples a second`) });
    },
  );

  it('in a compressed WAV is refused, because its length stands elsewhere', () => {
    const file = wavOf({ seconds: 0.5 });
    file.writeUInt16LE(2, 20);
    expect(readAudio(file)).toEqual({ reason: 'its WAV encoding (2, 16 bits) is not read' });
  });

  it('that claims more frames than it has reaches the decoder with the true count', () => {
    const lying = readAudio(mp3Of({ seconds: 0.5, claimed: 2 ** 32 - 1 }));
    expect(lying).toEqual(readAudio(mp3Of({ seconds: 0.5, claimed: FRAMES })));
    expect(readAudio(flacOf({ seconds: 0.5, frames: 2 ** 36 - 1 }))).toMatchObject({
      seconds: (2 ** 36 - 1) / 16_000,
    });
  });

  it('reaches the decoder without what is no audio', () => {
    const plain = readAudio(mp3Of({ seconds: 0.5 }));
    expect(readAudio(mp3Of({ seconds: 0.5, isTagged: true }))).toEqual(plain);
    const file = mp3Of({ seconds: 0.5 });
    const torn = Buffer.concat([file.subarray(0, 288), latin('\xff\xfb\x58\xc0 junk'), file.subarray(288)]);
    expect(readAudio(torn)).toEqual(plain);
    expect(readAudio(wavOf({ seconds: 0.5, isLong: true }))).toEqual(readAudio(wavOf({ seconds: 0.5 })));
  });

  it('of which a byte is changed or the end is missing never claims more than its bytes hold', () => {
    const random = seededRandom(7);
    for (const [name, file] of SOUND) {
      for (let n = 0; n < 300; n += 1) {
        const bytes = Buffer.from(
          file.subarray(0, random.below(4) === 0 ? random.below(file.length) : file.length),
        );
        if (bytes.length > 0) bytes[random.below(Math.min(64, bytes.length))] = random.below(256);
        const found = readAudio(bytes);
        if ('reason' in found || name.startsWith('FLAC')) continue;
        // Of the densest: a byte for each sample, or eight kilobits a second.
        expect(found.seconds, name).toBeLessThanOrEqual(found.bytes.length / 1_000 + 0.1);
        expect(found.bytes.length, name).toBeLessThanOrEqual(bytes.length + 44);
      }
    }
  });
});
