import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Records } from './records.ts';

it('names records that are damaged or of a later version, and keeps the others', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'hearth-records-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = (id: string): string => path.join(folder, `${id}.json`);
  await writeFile(file('a'), '{"schema":1,');
  await writeFile(file('b'), '{"schema":1}');
  await writeFile(file('c'), '{"schema":2}');
  const skipped: string[] = [];
  const records = await Records.open(folder, (each) => skipped.push(each));
  expect(records.entries()).toEqual([['b', { schema: 1 }]]);
  expect(skipped).toEqual([file('a'), file('c')]);
});
