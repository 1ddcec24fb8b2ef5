/** Build step: writes the generated models into the folder given as argument. They are deterministic. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { writeTinyChat } from './tiny-chat.ts';
import { writeTinyEmbed } from './tiny-embed.ts';

const folder = process.argv[2];
if (folder === undefined) throw new Error('usage: generate.js FOLDER');
mkdirSync(folder, { recursive: true });
await writeTinyChat(path.join(folder, 'tiny-chat.gguf'));
await writeTinyEmbed(path.join(folder, 'tiny-embed.gguf'));
