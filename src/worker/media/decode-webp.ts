/** WebP files into pixels, one after the other and each in a thread of its own: stb_image of libmtmd does not read them. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { builtFile } from '../../lib/base/package-folder.ts';
import { Turns } from '../../lib/base/turns.ts';
import type { Pixels } from '../native.ts';
import { readWebp } from './webp-file.ts';

/** A decoder takes four bytes for each pixel, and as much again for its result. */
const turns = new Turns();

/** Rejects with the end of a sentence: the reason why the file is unusable. */
export async function decodeWebp(bytes: Buffer): Promise<Pixels> {
  const picture = readWebp(bytes);
  const pixels = picture === null ? null : await turns.run(() => inThread(picture.file));
  if (pixels === null || pixels.width !== picture?.width || pixels.height !== picture.height)
    throw new Error('its data is damaged');
  return pixels;
}

async function inThread(file: Buffer): Promise<Pixels | null> {
  // Node options of this process are not meant for its threads.
  const thread = new Worker(builtFile('worker/media/webp-thread.js'), { workerData: file, execArgv: [] });
  try {
    const [pixels] = (await once(thread, 'message')) as [Pixels | null];
    return pixels;
  } finally {
    await thread.terminate();
  }
}
