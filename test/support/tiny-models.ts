/** The tiny models as files. vitest writes them once per run, because that takes longer than most of the tests. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeTinyChat } from '../../tools/models/tiny-chat.ts';
import { writeTinyEmbed } from '../../tools/models/tiny-embed.ts';

const folder = fileURLToPath(new URL('../../generated/models/', import.meta.url));

/** Shared by all tests: a test that may change or remove one works on a copy. */
export const tinyModels = {
  chat: path.join(folder, 'tiny-chat.gguf'),
  embedding: path.join(folder, 'tiny-embed.gguf'),
};

/** Called by vitest, see globalSetup in vitest.config.ts. */
export async function setup(): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeTinyChat(tinyModels.chat);
  await writeTinyEmbed(tinyModels.embedding);
}
