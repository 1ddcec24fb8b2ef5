/** What a process that ended left of its drafts: whole records get their names, the others go. */
import { open, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { moveDurably, temporaryBase } from '../../lib/files/durable.ts';
import { END } from './record-draft.ts';

/**
 * Returns the records that the folder holds then. To be called before this process has a draft of its own. A draft that
 * the disk refuses to give is left for the next start: the other records are no worse for it.
 */
export async function takeLeftovers(folder: string): Promise<string[]> {
  const drafts: Leftover[] = [];
  for (const name of await readdir(folder)) {
    const record = temporaryBase(name);
    if (record === null || !RECORD_FILE.test(record)) continue;
    const file = path.join(folder, name);
    drafts.push({ file, record, writtenAtMs: (await stat(file)).mtimeMs });
  }
  // A later draft takes the place of an earlier one.
  for (const draft of drafts.toSorted((a, b) => a.writtenAtMs - b.writtenAtMs))
    await take(draft, folder).catch(() => undefined);
  return (await readdir(folder)).filter((name) => RECORD_FILE.test(name));
}

async function take({ file, record }: Leftover, folder: string): Promise<void> {
  if (await isWhole(file)) await moveDurably(file, path.join(folder, record));
  else await rm(file, { force: true });
}

/** The names of records; nothing else is touched but their drafts. */
const RECORD_FILE = /^(?:[0-9a-f]{16}-)?[0-9a-f]{64}\.json$/;

interface Leftover {
  readonly file: string;
  readonly record: string;
  readonly writtenAtMs: number;
}

/** A whole draft is on the disk when this is over. */
async function isWhole(draft: string): Promise<boolean> {
  const file = await open(draft, 'r');
  try {
    const { size } = await file.stat();
    const { buffer } = await file.read({ buffer: Buffer.alloc(END.length), position: Math.max(0, size - 1) });
    if (buffer.toString() !== END) return false;
    await file.sync();
    return true;
  } finally {
    await file.close();
  }
}
