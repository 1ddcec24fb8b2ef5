import { readdir, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Type } from 'typebox';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../test/support/temp-home.ts';
import { Parts } from './parts.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
let home: string;
let made: number;
const make = async (): Promise<number> => {
  made += 1;
  return made;
};
const open = (key = 'k', nowMs = Date.now()) => Parts.open(home, key, nowMs);
const folder = (): string => path.join(home, 'evals', 'unfinished');

beforeEach(async () => {
  home = await temporaryFolder();
  made = 0;
});

describe('parts of a measurement', () => {
  it('are made once, also by a run that goes on', async () => {
    const first = await open();
    expect([await first.part('a', Type.Number(), make), await first.part('a', Type.Number(), make)]).toEqual([
      1, 1,
    ]);
    const second = await open();
    expect(second.kept).toBe(1);
    expect([
      await second.part('a', Type.Number(), make),
      await second.part('b', Type.Number(), make),
    ]).toEqual([1, 2]);
    await second.remove();
    expect((await open()).kept).toBe(0);
    expect(await readdir(folder())).toEqual([]);
  });

  it('are of one key, of one day, and of the shape that is asked for', async () => {
    await (await open()).part('a', Type.Number(), make);
    expect((await open('other')).kept).toBe(0);
    await (await open()).part('a', Type.String(), async () => 'text');
    expect(await (await open()).part('a', Type.String(), async () => 'made again')).toBe('text');
    expect((await open('k', Date.now() + 2 * DAY_MS)).kept).toBe(0);
    expect(await readdir(folder())).toEqual([]);
  });

  it('are measured again where the file is damaged, and old files go', async () => {
    await (await open()).part('a', Type.Number(), make);
    const [name = ''] = await readdir(folder());
    await writeFile(path.join(folder(), name), '{"schema":1,"parts"');
    expect((await open()).kept).toBe(0);
    const old = path.join(folder(), 'old.json');
    await writeFile(old, '{}');
    await utimes(old, 1, 1);
    await open();
    expect(await readdir(folder())).toEqual([name]);
  });

  it('are kept nowhere in a home that cannot be written, and still made', async () => {
    await writeFile(path.join(home, 'evals'), 'in the way');
    expect(await (await open()).part('a', Type.Number(), make)).toBe(1);
  });
});
