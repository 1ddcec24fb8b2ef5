import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inspectGguf } from '../../src/lib/gguf/inspect.ts';
import { text } from './metadata.ts';
import { encodeGguf, type TensorSource, writeGguf } from './writer.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hearth-writer-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const bytes = (name: string, ...pieces: number[][]): TensorSource => ({
  name,
  type: 'I8',
  dims: [4],
  chunks: () => pieces.map((piece) => Uint8Array.from(piece)),
});

describe('the writer', () => {
  it('writes to disk what it encodes in memory, however the data is cut', async () => {
    const whole = {
      metadata: { 'a.b': text('c') },
      tensors: [bytes('x', [1, 2, 3, 4]), bytes('y', [5, 6, 7, 8])],
    };
    const cut = { ...whole, tensors: [bytes('x', [1], [2, 3], [4]), bytes('y', [5, 6], [], [7, 8])] };
    const path = join(folder, 'a.gguf');
    expect(await writeGguf(path, cut)).toBe(encodeGguf(whole).length);
    expect((await readFile(path)).equals(encodeGguf(whole))).toBe(true);
  });

  it('aligns every tensor', () => {
    const file = encodeGguf({ metadata: {}, tensors: [bytes('x', [1, 2, 3, 4]), bytes('y', [5, 6, 7, 8])] });
    expect(file.length % 32).toBe(0);
    expect([...file.subarray(file.length - 64, file.length - 60)]).toEqual([1, 2, 3, 4]);
    expect([...file.subarray(file.length - 32, file.length - 28)]).toEqual([5, 6, 7, 8]);
  });

  it('leaves nothing behind when a tensor has the wrong size', async () => {
    const path = join(folder, 'short.gguf');
    await expect(writeGguf(path, { metadata: {}, tensors: [bytes('x', [1, 2])] })).rejects.toThrow(
      /2 bytes, expected 4/,
    );
    expect((await readdir(folder)).filter((name) => name.startsWith('short'))).toEqual([]);
  });

  it('keeps the file that was there when writing a new one fails', async () => {
    const path = join(folder, 'kept.gguf');
    await writeGguf(path, { metadata: {}, tensors: [bytes('x', [1, 2, 3, 4])] });
    const before = await readFile(path);
    await expect(writeGguf(path, { metadata: {}, tensors: [bytes('x', [1])] })).rejects.toThrow();
    expect((await readFile(path)).equals(before)).toBe(true);
    await expect(inspectGguf(path)).rejects.toMatchObject({ code: 'gguf_invalid' });
  });
});
