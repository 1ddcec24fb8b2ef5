/** WebP files, by the encoder of the package whose decoder reads them. */
import { webp } from 'icodec/node';

type Colour = readonly [red: number, green: number, blue: number, alpha?: number];

export interface WebpOptions {
  readonly lossless?: boolean;
}

/** `colour` of each pixel. */
export async function webpOf(
  width: number,
  height: number,
  colour: (x: number, y: number) => Colour,
  { lossless = false }: WebpOptions = {},
): Promise<Buffer> {
  const data = new Uint8ClampedArray(4 * width * height);
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    const [red, green, blue, alpha = 255] = colour(pixel % width, Math.floor(pixel / width));
    data.set([red, green, blue, alpha], 4 * pixel);
  }
  await webp.loadEncoder();
  return Buffer.from(webp.encode({ data, width, height, depth: 8 }, { lossless }));
}

/** An animation of pictures of the same size, each for a tenth of a second. */
export function animatedWebp(width: number, height: number, pictures: readonly Buffer[]): Buffer {
  const last = (side: number): Buffer => {
    const bytes = Buffer.alloc(3);
    bytes.writeUIntLE(side - 1, 0, 3);
    return bytes;
  };
  const sides = Buffer.concat([last(width), last(height)]);
  const frames = pictures.map((picture) =>
    chunk('ANMF', Buffer.concat([Buffer.alloc(6), sides, Buffer.from([100, 0, 0, 0]), picture.subarray(12)])),
  );
  const hasAnimation = Buffer.from([0x02, 0, 0, 0]);
  const body = Buffer.concat([
    Buffer.from('WEBP'),
    chunk('VP8X', Buffer.concat([hasAnimation, sides])),
    chunk('ANIM', Buffer.alloc(6)),
    ...frames,
  ]);
  return chunk('RIFF', body);
}

function chunk(name: string, data: Buffer): Buffer {
  const header = Buffer.alloc(8);
  header.write(name, 'latin1');
  header.writeUInt32LE(data.length, 4);
  return Buffer.concat([header, data, Buffer.alloc(data.length % 2)]);
}
