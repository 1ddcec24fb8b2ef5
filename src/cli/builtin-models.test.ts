/** The models that ship: when they are installed, and what is said of their files. */
import { readdir } from 'node:fs/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/support/temp-home.ts';
import { knownDigest } from '../store/files/manifest.ts';
import { removeModel } from '../store/install/changes.ts';
import { openRegistry, type Registry } from '../store/registry/registry.ts';
import {
  registerBuiltins,
  registerMissingBuiltin,
  removedBuiltins,
  restoreBuiltins,
} from './builtin-models.ts';
import { builtinLimits } from '../store/files/builtin-facts.ts';
import { openLog } from './log/logger.ts';

const { logger: log } = openLog({ level: 'silent', home: null });
let home: string;
let registry: Registry;

beforeEach(async () => {
  home = await temporaryFolder();
  registry = openRegistry({ home });
});

const ids = async () => (await registry.list()).map(({ id }) => id);

describe('a replay', () => {
  it('installs the built-in models only when the record names one that is missing', async () => {
    const offer = (id: string) => registerMissingBuiltin(id, { home, registry, log });
    await offer('tiny');
    expect(await readdir(home)).toEqual([]);
    await offer('hearth-mini');
    expect(await ids()).toContain('hearth-mini');
  });
});

describe('a model that was removed', () => {
  it('stays away at the next start, even where hearth restore was the first to install it', async () => {
    await restoreBuiltins({ home, registry }, ['hearth-mini']);
    await removeModel(registry, 'hearth-mini');
    expect(await removedBuiltins(home, registry)).toEqual(['hearth-mini']);
    await registerBuiltins(home, registry, log);
    expect(await ids()).toEqual(['hearth-embed']);
  });
});

describe('what is said of the limits of a model', () => {
  it('is said of the files that ship, whose digests are written down', async () => {
    await registerBuiltins(home, registry, log);
    for (const { id, files } of await registry.list()) {
      const [file] = files;
      const digest = file ? knownDigest(file) : null;
      expect(builtinLimits(digest), id).toMatch(/^\w/);
      expect(builtinLimits(`sha256:${digest}`)).toBe(builtinLimits(digest));
    }
  });

  it('is not said of another file, whatever its id', () => {
    for (const digest of ['0'.repeat(64), null, undefined]) expect(builtinLimits(digest)).toBeUndefined();
  });
});
