import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { partsBelow } from './join-parts.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'hearth-parts-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('partsBelow', () => {
  it('finds the parts in whatever folder, by their numbers and not their names', () => {
    // The tenth part comes after the second, and a package that sorts first may hold a late part.
    for (const [name, part] of [
      ['a', '10'],
      ['b', '2'],
      ['c', '00'],
    ] as const) {
      mkdirSync(path.join(folder, name));
      writeFileSync(path.join(folder, name, `model.gguf.part${part}`), part);
      writeFileSync(path.join(folder, name, 'README.md'), part);
    }
    const found = partsBelow(folder).map((file) => path.relative(folder, file));
    expect(found).toEqual(['c/model.gguf.part00', 'b/model.gguf.part2', 'a/model.gguf.part10']);
  });
});
