/** Who can reach the private key of the instance: its own room, and the composition root that hands out capabilities. */
import { describe, expect, it } from 'vitest';
import { files, imports, isWithin, textOf } from './sources.ts';

const KEY = 'trust/identity/instance.ts';
const mayReach = (file: string): boolean => isWithin(file, 'trust') || file === 'server/app.ts';

describe('the signing key', () => {
  it('is imported by trust and the composition root only, types included', () => {
    const importers = imports.filter(({ resolved }) => resolved === KEY).map(({ file }) => file);
    expect(importers).toContain('server/app.ts');
    expect(importers.filter((file) => !mayReach(file))).toEqual([]);
  });

  it('is named nowhere else', () => {
    const naming = files.filter((file) =>
      /\b(InstanceKeys|privateKey|InstanceIdentity)\b/.test(textOf(file)),
    );
    expect(naming).toContain(KEY);
    expect(naming.filter((file) => !mayReach(file))).toEqual([]);
  });
});
