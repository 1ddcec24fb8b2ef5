/** An uncompressed image of 24 bits a pixel, in colours that follow from a seed: every decoder reads it alike. */
import { seededRandom } from '../../tools/gguf/random.ts';

const HEADER = 54;

export function randomBmp(width: number, height: number, seed: number): Buffer {
  const stride = 4 * Math.ceil((3 * width) / 4);
  const file = Buffer.alloc(HEADER + stride * height);
  file.write('BM', 'latin1');
  file.writeUInt32LE(file.length, 2);
  file.writeUInt32LE(HEADER, 10);
  file.writeUInt32LE(40, 14);
  file.writeInt32LE(width, 18);
  file.writeInt32LE(height, 22);
  file.writeUInt16LE(1, 26);
  file.writeUInt16LE(24, 28);
  const { below } = seededRandom(seed);
  for (let at = HEADER; at < file.length; at += 1) file[at] = below(256);
  return file;
}
