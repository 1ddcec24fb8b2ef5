import { describe, expect, it } from 'vitest';
import { bmpOf, GIF, JPEG, pngWith, stripes } from '../../../test/support/images.ts';
import { readImageHeader } from './image-file.ts';

const latin = (text: string): Buffer => Buffer.from(text, 'latin1');

/** A JPEG up to its frame; `before`: segments that come first. */
const jpeg = (marker: number, width: number, height: number, before = latin('')): Buffer => {
  const frame = Buffer.alloc(12);
  frame.set([0xff, marker, 0, 17, 8]);
  frame.writeUInt16BE(height, 5);
  frame.writeUInt16BE(width, 7);
  return Buffer.concat([latin('\xff\xd8'), before, frame]);
};
const thumbnail = latin('\xff\xe1\x00\x10\xff\xc0\x00\x11\x08\xff\xff\xff\xff......');

describe('the header of an image', () => {
  it.each([
    ['a PNG', stripes(7, 5), { format: 'PNG', width: 7, height: 5 }],
    ['a huge PNG', pngWith(100_000, 90_000, latin('')), { format: 'PNG', width: 100_000, height: 90_000 }],
    ['a GIF', GIF, { format: 'GIF', width: 2, height: 2 }],
    ['a BMP', bmpOf(3, 4), { format: 'BMP', width: 3, height: 4 }],
    ['a real JPEG', JPEG, { format: 'JPEG', width: 24, height: 20 }],
    ['a baseline JPEG', jpeg(0xc0, 640, 480), { format: 'JPEG', width: 640, height: 480 }],
    ['a progressive JPEG', jpeg(0xc2, 65_535, 1), { format: 'JPEG', width: 65_535, height: 1 }],
    ['a JPEG behind a thumbnail', jpeg(0xc0, 10, 20, thumbnail), { format: 'JPEG', width: 10, height: 20 }],
    [
      'a JPEG behind filling',
      jpeg(0xc1, 10, 20, latin('\xff\xff\xff\xfe\x00\x03!xyz')),
      { format: 'JPEG', width: 10, height: 20 },
    ],
  ])('of %s says how large it is', (_, bytes, expected) => {
    expect(readImageHeader(bytes)).toEqual(expected);
  });

  it('of a BMP from the top down has a positive height', () => {
    const bytes = bmpOf(3, 4);
    bytes.writeInt32LE(-4, 22);
    expect(readImageHeader(bytes)).toMatchObject({ height: 4 });
  });

  it.each([
    ['nothing', latin(''), 'it is empty'],
    ['text', latin('hello there'), 'it is no image'],
    ['WebP without a picture', latin('RIFF....WEBPVP8 '), 'its WebP header is damaged'],
    ['WAV', latin('RIFF....WAVEfmt '), 'it is no image'],
    ['HEIC', latin('....ftypheic'), 'it is AVIF or HEIC'],
    ['SVG', latin('<svg xmlns="">'), 'it is SVG'],
    ['a PDF', latin('%PDF-1.7'), 'it is PDF'],
    ['half a PNG', stripes(7, 5).subarray(0, 20), 'its PNG header is damaged'],
    [
      'a PNG without a header',
      latin('\x89PNG\r\n\x1a\n\0\0\0\x04CgBI............'),
      'its PNG header is damaged',
    ],
    ['a JPEG that ends', latin('\xff\xd8\xff\xe0\x00\x10JFIF'), 'its JPEG header is damaged'],
    ['an arithmetic JPEG', jpeg(0xc9, 4, 4), 'its JPEG header is damaged'],
    ['a JPEG of no pixels', jpeg(0xc0, 4, 0), 'its JPEG header is damaged'],
    ['a portable pixmap', latin('P6 2 2 255 ............'), 'it is no image'],
    ['a picture of Photoshop', latin('8BPS........'), 'it is no image'],
  ])('of %s says why it is not used', (_, bytes, reason) => {
    expect(readImageHeader(bytes)).toEqual({ reason });
  });
});
