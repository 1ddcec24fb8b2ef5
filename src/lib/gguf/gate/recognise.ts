/**
 * Says what a file is from its first bytes, before it is read as GGUF: the most common
 * "broken models" are web pages, pointers and archives saved under a model's name.
 */
import type { Refuse } from '../format/cursor.ts';
import { GGUF_MAGIC } from '../format/format.ts';

/** How much of the file is looked at; an LFS pointer is about 134 bytes long. */
export const SNIFF_BYTES = 512;

const MINIMUM_BYTES = 24;

export function checkMagic(start: Buffer, refuse: Refuse): void {
  if (start.length === 0) refuse('the file is empty');
  if (start.toString('latin1', 0, 4) !== GGUF_MAGIC) refuse(describeOther(start));
  if (start.length < MINIMUM_BYTES)
    refuse(`the file ends after ${start.length} bytes, before its first counts`);
  const version = start.readUInt32LE(4);
  if ((version & 0xffff) === 0 && version !== 0)
    refuse('it is a big-endian GGUF file, which this machine cannot run');
  if (version === 1) refuse('it is GGUF version 1, which llama.cpp no longer reads; convert it again');
  if (version !== 2 && version !== 3) refuse(`its GGUF version is ${version}; versions 2 and 3 are read`);
}

function describeOther(start: Buffer): string {
  const text = start.toString('latin1');
  const opening = text.trimStart().slice(0, 200).toLowerCase();
  if (text.startsWith('version https://git-lfs')) {
    return 'it is a Git LFS pointer, not the model itself; fetch the file with git lfs pull or hearth pull';
  }
  if (opening.startsWith('<!doctype') || opening.startsWith('<html') || opening.startsWith('<?xml')) {
    return 'it is a web page, not a model; the download went to a login or error page';
  }
  if (start[0] === 0x1f && start[1] === 0x8b) return 'it is compressed with gzip; unpack it first';
  if (text.startsWith('PK')) return 'it is a ZIP archive; unpack it first';
  if (['ggml', 'ggjt', 'ggla', 'ggmf'].some((magic) => isMagic(text, magic))) {
    return 'it is a GGML file from before GGUF, which llama.cpp no longer reads';
  }
  if (isMagic(text, 'gguf')) return 'it is a GGUF file with its bytes in the wrong order';
  if (text.charCodeAt(8) === 0x7b) return 'it is a safetensors file; convert it to GGUF first';
  if (opening.startsWith('{')) return 'it is a JSON document, not a model';
  return 'it does not begin with the letters GGUF';
}

function isMagic(text: string, magic: string): boolean {
  const start = text.slice(0, 4).toLowerCase();
  return start === magic || [...start].reverse().join('') === magic;
}
