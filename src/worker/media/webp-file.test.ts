import { beforeAll, describe, expect, it } from 'vitest';
import { animatedWebp, webpOf } from '../../../test/support/webp.ts';
import { readImageHeader } from './image-file.ts';
import { readWebp } from './webp-file.ts';

const latin = (text: string): Buffer => Buffer.from(text, 'latin1');
const grey = (x: number, y: number) => [x, y, 128] as const;
const glass = (x: number, y: number) => [x, y, 128, (x * 7) % 256] as const;

const files: Record<'lossy' | 'lossless' | 'transparent' | 'animated', Buffer> = {
  lossy: latin(''),
  lossless: latin(''),
  transparent: latin(''),
  animated: latin(''),
};
beforeAll(async () => {
  files.lossy = await webpOf(33, 21, grey);
  files.lossless = await webpOf(33, 21, grey, { lossless: true });
  files.transparent = await webpOf(33, 21, glass);
  files.animated = animatedWebp(33, 21, [files.lossless, files.lossy]);
});
const nameIn = (file: Buffer): string => file.toString('latin1', 12, 16);

describe('a WebP file', () => {
  it.each([
    ['lossy', 'VP8 '],
    ['lossless', 'VP8L'],
    ['transparent', 'VP8X'],
    ['animated', 'VP8X'],
  ] as const)('that is %s says how large it is', (kind, name) => {
    expect(nameIn(files[kind])).toBe(name);
    expect(readImageHeader(files[kind])).toEqual({ format: 'WebP', width: 33, height: 21 });
  });

  it('that is animated gives its first frame, one that is transparent its colours', () => {
    expect(readWebp(files.animated)?.file).toEqual(readWebp(files.lossless)?.file);
    expect(nameIn(readWebp(files.transparent)?.file ?? latin(''))).toBe('VP8 ');
  });

  it('says the size of its picture, whatever is written around it', () => {
    const file = Buffer.from(files.transparent);
    file.writeUIntLE(0, 24, 6);
    expect(readImageHeader(file)).toMatchObject({ width: 33, height: 21 });
    const large = Buffer.from(files.lossless);
    large.writeUInt32LE(0x0fff_ffff, 21);
    expect(readImageHeader(large)).toMatchObject({ width: 16_384, height: 16_384 });
  });

  it('is damaged in every beginning that ends before the size of its picture', () => {
    const { animated } = files;
    const place = animated.indexOf('VP8L') + 8;
    for (let end = 12; end < place + 5; end += 1) {
      expect(readImageHeader(animated.subarray(0, end)), String(end)).toEqual({
        reason: 'its WebP header is damaged',
      });
    }
    expect(readImageHeader(animated.subarray(0, place + 5))).toMatchObject({ width: 33 });
  });

  it('holds no animation in an animation', () => {
    const { animated } = files;
    expect(
      readWebp(animatedWebp(33, 21, [Buffer.concat([latin('............'), animated.subarray(44)])])),
    ).toBeNull();
  });
});
