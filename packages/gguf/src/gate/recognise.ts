/**
 * Recognises a file by its first bytes before it is read as GGUF: most "broken models" are web pages, pointers and
 * archives saved under a model's name.
 */
import type { Refuse } from '../format/cursor.ts';
import { GGUF_MAGIC } from '../format/format.ts';

/** An LFS pointer has about 134 bytes. */
export const SNIFF_BYTES = 512;

export const MINIMUM_BYTES = 24;

/** Magic bytes in hex. Archives are never opened. */
const ARCHIVES: readonly (readonly [string, string])[] = [
  ['504b', 'ZIP'],
  ['1f8b', 'gzip'],
  ['28b52ffd', 'Zstandard'],
  ['425a68', 'bzip2'],
  ['fd377a585a', 'xz'],
  ['377abcaf', '7z'],
];

export function checkMagic(start: Buffer, refuse: Refuse): void {
  const reason = whyNotGguf(start);
  if (reason !== null) refuse(reason);
  const version = start.readUInt32LE(4);
  if ((version & 0xffff) === 0 && version !== 0)
    refuse('it is a big-endian GGUF file, which this machine cannot run');
  if (version === 1) refuse('it is GGUF version 1, which llama.cpp no longer reads; convert it again');
  if (version !== 2 && version !== 3)
    refuse(`its GGUF version is ${version}; versions 2 and 3 are supported`);
}

/** Actual kind of a file by its first bytes; null if it begins like a GGUF file. */
export function whyNotGguf(start: Buffer): string | null {
  if (start.length === 0) return 'the file is empty';
  const text = start.toString('latin1');
  if (text.startsWith(GGUF_MAGIC)) {
    return start.length < MINIMUM_BYTES
      ? `the file ends after ${start.length} bytes, inside its header`
      : null;
  }
  const opening = text.trimStart().slice(0, 200).toLowerCase();
  if (text.startsWith('version https://git-lfs'))
    return 'it is a Git LFS pointer, not the model itself; fetch the file with git lfs pull or hearth pull';
  if (['<!doctype', '<html', '<head', '<?xml'].some((tag) => opening.startsWith(tag)))
    return 'it is a web page, not a model; the download went to a login or error page';
  const archive = ARCHIVES.find(([magic]) => start.toString('hex').startsWith(magic));
  if (archive) return `it is a ${archive[1]} archive; unpack it first`;
  if (['ggml', 'ggjt', 'ggla', 'ggmf'].some((magic) => isMagic(text, magic)))
    return 'it is a GGML file from before GGUF, which llama.cpp no longer reads';
  if (isMagic(text, 'gguf')) return 'it is a GGUF file with its bytes in the wrong order';
  if (text.startsWith('{', 8)) return 'it is a safetensors file; convert it to GGUF first';
  if (opening.startsWith('{')) return 'it is a JSON document, not a model';
  return 'it does not begin with the letters GGUF';
}

function isMagic(text: string, magic: string): boolean {
  const start = text.slice(0, 4).toLowerCase();
  return start === magic || [...start].reverse().join('') === magic;
}
