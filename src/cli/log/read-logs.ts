import { watch } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import { ifMissing } from '../../lib/files/durable.ts';
import { deferred } from '../../lib/base/deferred.ts';
import { logFiles, logFolder } from './log-files.ts';

export async function lastLines(
  home: string,
  isWanted: (line: string) => boolean,
  most: number,
): Promise<string[] | null> {
  const texts: string[] = [];
  for (const file of logFiles(home)) {
    const text = await readFile(file, 'utf8').catch(ifMissing(undefined));
    if (text !== undefined) texts.unshift(text);
  }
  if (texts.length === 0) return null;
  const lines = texts.join('').split('\n');
  // Text after the last line end is still being written.
  return lines
    .slice(0, -1)
    .filter(isWanted)
    .slice(most === 0 ? lines.length : -most);
}

export async function* newLines(home: string, signal: AbortSignal): AsyncGenerator<string, void, void> {
  const [current, before] = logFiles(home);
  let news = deferred<void>();
  const wake = (): void => news.resolve();
  const watcher = watch(logFolder(home), { persistent: true }, wake);
  signal.addEventListener('abort', wake, { once: true });
  let place = await placeAtEnd(current);
  let rest = '';
  try {
    while (!signal.aborted) {
      const { text, ...now } = await appended({ current, before: before ?? current, place });
      place = now.place;
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
      if (text !== '') continue;
      await news.promise;
      news = deferred();
    }
  } finally {
    watcher.close();
  }
}

interface Place {
  readonly inode: number;
  readonly bytes: number;
}

async function placeAtEnd(file: string): Promise<Place> {
  const facts = await stat(file).catch(ifMissing(undefined));
  return { inode: facts?.ino ?? 0, bytes: facts?.size ?? 0 };
}

async function appended(at: { readonly current: string; readonly before: string; readonly place: Place }) {
  const { inode, bytes } = at.place;
  const facts = await stat(at.current).catch(ifMissing(undefined));
  if (facts === undefined) return { text: '', place: at.place };
  if (facts.ino === inode || inode === 0) {
    const text = await textFrom(at.current, facts.ino === inode ? bytes : 0);
    return { text, place: { inode: facts.ino, bytes: bytes + Buffer.byteLength(text) } };
  }
  // After a rotation, the last text is in the previous file.
  const [end, begin] = [await textFrom(at.before, bytes), await textFrom(at.current, 0)];
  return { text: end + begin, place: { inode: facts.ino, bytes: Buffer.byteLength(begin) } };
}

async function textFrom(file: string, position: number): Promise<string> {
  const handle = await open(file).catch(ifMissing(undefined));
  if (handle === undefined) return '';
  try {
    const { size } = await handle.stat();
    const bytes = Buffer.alloc(Math.max(0, size - position));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, position);
    return bytes.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}
