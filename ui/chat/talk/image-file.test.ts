import { describe, expect, it } from 'vitest';
import { bytesOfUrl, MOST_PIXELS, imageSize, within } from './image-file.ts';

function png(width: number, height: number): Uint8Array {
  const file = Buffer.alloc(33);
  file.write('\x89PNG\r\n\x1a\n', 'latin1');
  file.write('IHDR', 12, 'latin1');
  file.writeUInt32BE(width, 16);
  file.writeUInt32BE(height, 20);
  return file;
}
const dataUrl = (file: Uint8Array, type = 'png') =>
  `data:image/${type};base64,${Buffer.from(file).toString('base64')}`;

/** With a segment of a camera before the frame, as photos have it. */
const jpeg = (width: number, height: number) =>
  Buffer.from([
    255,
    216,
    255,
    225,
    0,
    6,
    1,
    2,
    3,
    4,
    255,
    255,
    194,
    0,
    11,
    8,
    height >> 8,
    height & 255,
    width >> 8,
    width & 255,
    1,
    1,
    17,
    0,
  ]);

describe('an image file', () => {
  it('says how large it is before it is decoded', () => {
    expect(imageSize(png(640, 480))).toEqual({ width: 640, height: 480 });
    expect(imageSize(jpeg(4000, 3000))).toEqual({ width: 4000, height: 3000 });
    expect(imageSize(Buffer.from('GIF89a'))).toBeNull();
    for (const whole of [png(1, 1).subarray(0, 20), jpeg(8, 8).subarray(0, 14), Buffer.from([0xff, 0xd8])])
      expect(imageSize(whole)).toBeNull();
  });

  it('is decoded from a message only if it is a PNG or a JPEG of a size that a browser bears', () => {
    expect(bytesOfUrl(dataUrl(png(10, 10)))?.length).toBe(33);
    for (const url of [
      dataUrl(png(MOST_PIXELS, 2)),
      dataUrl(png(10, 10), 'svg+xml'),
      dataUrl(Buffer.from('<svg/>')),
      'https://evil.example/a.png',
      `data:image/png;base64,${'A'.repeat(5_000_000)}`,
      'data:image/png;base64,%%%',
    ])
      expect(bytesOfUrl(url)).toBeNull();
  });

  it('is made smaller with its form kept', () => {
    expect(within({ width: 4000, height: 3000 }, 2048)).toEqual({ width: 2048, height: 1536 });
    expect(within({ width: 5000, height: 1 }, 100)).toEqual({ width: 100, height: 1 });
    expect(within({ width: 30, height: 20 }, 100)).toEqual({ width: 30, height: 20 });
  });
});
