import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { knownModel } from '../../../../test/support/upstream/service.ts';
import { EngineStore } from '../../../store/engines/engine-store.ts';
import type { UpstreamEntry } from '../../../store/engines/entry.ts';
import { openRegistry, type Registry } from '../../../store/registry/registry.ts';
import { addPool, aliasSeen, limitSeen, seenModels } from './name-models.ts';

let home: string;
let registry: Registry;
let engines: EngineStore;

beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'hearth-names-'));
  registry = openRegistry({ home });
  engines = new EngineStore(registry.store);
  const entry: UpstreamEntry = {
    schema: 1,
    type: 'upstream',
    name: 'box',
    baseUrl: 'http://127.0.0.1:1/v1',
    dialect: 'llama-server',
    privacy: 'local',
    aliases: {},
    known: [knownModel('/models/Gemma 3.gguf'), knownModel('owner/model')],
    addedAt: '2026-01-01T00:00:00Z',
  };
  await engines.put(entry);
});

afterAll(() => rm(home, { recursive: true, force: true }));

const add = (name: string, ...members: string[]) =>
  addPool({ registry, engines }, { name, members, equalWeights: false });

describe('a model that its upstream calls by a path', () => {
  it('is called by the last part, which aliases and limits hold too', async () => {
    expect((await seenModels(engines)).map(({ id }) => id)).toEqual(['box/Gemma-3', 'box/owner/model']);
    expect(await aliasSeen(engines, 'box/gemma-3', 'gem')).toBe(true);
    expect(await limitSeen(engines, 'gem', 'local')).toBe(true);
    expect((await seenModels(engines))[0]).toMatchObject({ aliases: ['gem'], privacy: 'local' });
  });
});

describe('a pool', () => {
  it('cannot take the name of a model of an engine, or its alias', async () => {
    await expect(add('box/owner/model', 'box/owner/model')).rejects.toThrow();
    await expect(add('box/owner', 'box/owner/model')).resolves.toEqual([]);
    await expect(add('gem', 'box/owner/model')).rejects.toThrow('it already means box/Gemma-3');
    await expect(add('box/owner', 'box/Gemma-3', 'box/owner/model')).resolves.toEqual([]);
  });

  it('tells of members that are not listed where they should be', async () => {
    expect(await add('some', 'box/owner/model', 'box/typo')).toEqual(['box/typo']);
    await expect(add('none', 'nowhere/model')).rejects.toThrow('nowhere/model');
  });
});
