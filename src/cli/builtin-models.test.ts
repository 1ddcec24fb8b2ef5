/** A built-in model that a replay needs is installed; nothing else touches the home. */
import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/support/temp-home.ts';
import { openRegistry } from '../store/registry/registry.ts';
import { registerMissingBuiltin } from './builtin-models.ts';
import { openLog } from './log/logger.ts';

describe('a replay', () => {
  it('installs the built-in models only when the record names one that is missing', async () => {
    const home = await temporaryFolder();
    const registry = openRegistry({ home });
    const offer = (id: string) =>
      registerMissingBuiltin(id, { home, registry, log: openLog({ level: 'silent', home: null }).logger });
    await offer('tiny');
    expect(await readdir(home)).toEqual([]);
    await offer('hearth-mini');
    expect((await registry.list()).map(({ id }) => id)).toContain('hearth-mini');
  });
});
