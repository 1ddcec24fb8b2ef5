import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { LineWriter } from './line-writer.ts';
import { fileTarget, logFiles, makeLogFolder } from './log-files.ts';
import { lastLines, newLines } from './read-logs.ts';

const all = (): boolean => true;

async function newHome(): Promise<string> {
  const home = await mkdtemp(path.join(tmpdir(), 'hearth-logs-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  makeLogFolder(home);
  return home;
}

function writerTo(home: string, problems: unknown[] = []): LineWriter {
  return new LineWriter(fileTarget(home, { fileBytes: 100, onProblem: (error) => problems.push(error) }));
}

it('rotates by size, keeps five files, and everything in them is private', async () => {
  const home = await newHome();
  const writer = writerTo(home);
  for (let line = 0; line < 40; line += 1) {
    // Fewer characters than bytes: the limit is one of bytes.
    writer.write(`{"line":${line},"text":"${'ä'.repeat(9)}${'x'.repeat(14)}"}\n`);
    await writer.flushed();
  }
  const sizes = await Promise.all(logFiles(home).map(async (file) => (await stat(file)).size));
  expect(sizes).toHaveLength(5);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(100);
  expect((await stat(logFiles(home)[0])).mode & 0o777).toBe(0o600);
  expect((await stat(path.dirname(logFiles(home)[0]))).mode & 0o777).toBe(0o700);
  const lines = (await lastLines(home, all, 3)) ?? [];
  expect(lines.map((line) => (JSON.parse(line) as { line: number }).line)).toEqual([37, 38, 39]);
});

it('is followed over a rotation without a line lost or told twice', async () => {
  const home = await newHome();
  const writer = writerTo(home);
  writer.write('{"line":"before"}\n');
  await writer.flushed();
  const leaving = new AbortController();
  const seen: string[] = [];
  const following = (async () => {
    for await (const line of newLines(home, leaving.signal)) {
      seen.push(line);
      if (seen.length === 12) leaving.abort();
    }
  })();
  for (let line = 0; line < 12; line += 1) {
    const before = seen.length;
    writer.write(`{"line":${line},"text":"twenty characters"}\n`);
    await writer.flushed();
    // Two rotations between two looks would be a loss that is allowed; none happens here.
    while (seen.length === before) await new Promise((resolve) => setImmediate(resolve));
  }
  await following;
  expect(seen.map((line) => (JSON.parse(line) as { line: number }).line)).toEqual(
    Array.from({ length: 12 }, (_, line) => line),
  );
});

it('tells once that the files cannot be written, and nothing else happens', async () => {
  const home = await newHome();
  const problems: unknown[] = [];
  const writer = writerTo(path.join(home, 'nowhere'), problems);
  writer.write('a\n');
  await writer.flushed();
  writer.write('b\n');
  await writer.flushed();
  expect(problems).toHaveLength(1);
});

it('bounds what waits for a slow reader, and says how much was lost', async () => {
  const written: string[] = [];
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const writer = new LineWriter({
    append: async (text) => {
      await gate;
      written.push(text);
    },
    appendNow: (text) => void written.push(text),
  });
  const line = `${'x'.repeat(1024 * 1024 - 1)}\n`;
  for (let count = 0; count < 10; count += 1) writer.write(line);
  release();
  await writer.flushed();
  expect(written.join('').length).toBeLessThan(6 * 1024 * 1024);
  expect(written.join('')).toContain('"lines":5');
  writer.write('last\n');
  writer.flushNow();
  await writer.flushed();
  expect(written.join('').match(/last/g)).toHaveLength(1);
});
