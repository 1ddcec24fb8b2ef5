/** Temporary homes and model files for tests of the registry; everything is removed when the test ends. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { tinyChatContent } from '../../tools/models/tiny-chat.ts';
import { tinyEmbedContent } from '../../tools/models/tiny-embed.ts';
import type { MetadataValue } from '../../tools/gguf/metadata.ts';
import { encodeGguf } from '../../tools/gguf/writer.ts';
import { openRegistry, type Registry, type RegistryOptions } from '../../src/store/registry/registry.ts';
import { removeFolder } from './remove-folder.ts';

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hearth-store-'));
  onTestFinished(() => removeFolder(folder));
  return folder;
}

export async function temporaryRegistry(options: Partial<RegistryOptions> = {}): Promise<Registry> {
  return openRegistry({ home: options.home ?? (await temporaryFolder()), ...options });
}

let chat: Buffer | undefined;
let embed: Buffer | undefined;

/** The bytes of the tiny chat model; `variant` makes files of equal shape and different bytes. */
export function chatBytes(variant = 0): Buffer {
  chat ??= encodeGguf(tinyChatContent());
  const bytes = Buffer.from(chat);
  // The last byte is padding or weights, never header: any value makes a valid file.
  bytes[bytes.length - 1] = variant;
  return bytes;
}

/** The tiny chat model in two parts, as llama.cpp splits models: only the first part describes itself. */
export function chatParts(): [Buffer, Buffer] {
  const { metadata, tensors } = tinyChatContent();
  const half = tensors.length >> 1;
  const split = (index: number): Record<string, MetadataValue> => ({
    'split.no': { type: 'u16', value: index },
    'split.count': { type: 'u16', value: 2 },
    'split.tensors.count': { type: 'i32', value: tensors.length },
  });
  return [
    encodeGguf({ metadata: { ...metadata, ...split(0) }, tensors: tensors.slice(0, half) }),
    encodeGguf({ metadata: split(1), tensors: tensors.slice(half) }),
  ];
}

export function embedBytes(): Buffer {
  embed ??= encodeGguf(tinyEmbedContent());
  return embed;
}

export async function writeChat(folder: string, name = 'tiny-chat.gguf', variant = 0): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, chatBytes(variant));
  return path;
}

export async function writeEmbed(folder: string, name = 'tiny-embed.gguf'): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, embedBytes());
  return path;
}
