/**
 * The thread that decodes one WebP file: a photo takes half a second, and the worker's event loop serves every
 * stream. It answers once and ends, which frees the decoder's memory.
 */
import { parentPort, workerData } from 'node:worker_threads';
import openDecoder from 'icodec/webp-dec.js';
import wasmBinary from 'icodec/webp-dec.wasm';
import type { Pixels } from '../native.ts';

interface Decoded {
  readonly data: Uint8ClampedArray<ArrayBuffer>;
  readonly width: number;
  readonly height: number;
}

Object.assign(globalThis, {
  _icodec_ImageData: (data: Decoded['data'], width: number, height: number): Decoded => ({
    data,
    width,
    height,
  }),
});

const { decode } = await openDecoder({ wasmBinary, locateFile: (name) => name, printErr: () => undefined });

function packPixels({ data, width, height }: Decoded): Pixels {
  // In place: a copy of a large image would take another 120 MB.
  let to = 0;
  for (let from = 0; from < data.length; from += 4) {
    data[to] = data[from] ?? 0;
    data[to + 1] = data[from + 1] ?? 0;
    data[to + 2] = data[from + 2] ?? 0;
    to += 3;
  }
  return { width, height, rgb: new Uint8Array(data.buffer, 0, to) };
}

/** Null if the file is damaged, which may also end in an error of WebAssembly. */
function decoded(file: Uint8Array): Pixels | null {
  try {
    const found = decode(file) as Decoded | null;
    return found === null ? null : packPixels(found);
  } catch (error) {
    if (error instanceof Error && error.name === 'RuntimeError') return null;
    throw error;
  }
}

const pixels = decoded(workerData as Uint8Array);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage(pixels, pixels === null ? [] : [pixels.rgb.buffer as ArrayBuffer]);
