/** Aliases and privacy limits for models of engines, and pools of them. Works without a server, from the last lists. */
import type { ModelKind } from '../../../contract/load.ts';
import type { Privacy } from '../../../contract/settings/privacy.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import { type EngineStore, taken } from '../../../store/engines/engine-store.ts';
import type { EngineEntry, PoolEntry } from '../../../store/engines/entry.ts';
import { checkModelId, isAlias } from '../../../store/files/model-id.ts';
import type { Registry } from '../../../store/registry/registry.ts';
import { modelAliases, modelLimit, nameIn } from './remote-models.ts';
import { ownName } from './own-name.ts';

export interface SeenModel {
  readonly id: string;
  readonly kind: ModelKind;
  readonly engine: EngineEntry['type'];
  readonly owner: string;
  readonly contextLength: number | null;
  readonly aliases: readonly string[];
  readonly addedAt: string;
  readonly privacy: Privacy | null;
}

export async function seenModels(engines: Pick<EngineStore, 'read'>): Promise<SeenModel[]> {
  const { entries } = await engines.read();
  const single = entries.flatMap((entry) => (entry.type === 'pool' ? [] : ownModels(entry)));
  const pools = entries.flatMap((entry): SeenModel[] => {
    if (entry.type !== 'pool') return [];
    const first = single.find(({ id }) => entry.members.includes(id));
    const { name: id, addedAt, privacy = null } = entry;
    const facts = { kind: first?.kind ?? ('chat' as const), contextLength: first?.contextLength ?? null };
    return [{ id, engine: 'pool', owner: 'pool', aliases: [], addedAt, privacy, ...facts }];
  });
  return [...single, ...pools];
}

function ownModels(entry: Exclude<EngineEntry, PoolEntry>): SeenModel[] {
  const own =
    entry.type === 'upstream'
      ? entry.known.map((known) => ({ own: ownName(known.name), known }))
      : entry.models.map(({ id, known }) => ({ own: id, known }));
  return own.map(({ own: model, known: { kind, contextLength } }) => ({
    id: `${entry.name}/${model}`,
    kind,
    engine: entry.type,
    owner: entry.name,
    contextLength,
    aliases: modelAliases(entry, model),
    addedAt: entry.addedAt,
    privacy: entry.type === 'upstream' ? modelLimit(entry, model) : null,
  }));
}

export async function findSeen(engines: Pick<EngineStore, 'read'>, name: string): Promise<SeenModel | null> {
  const wanted = name.toLowerCase();
  const models = await seenModels(engines);
  return (
    models.find(({ id }) => id.toLowerCase() === wanted) ??
    models.find(({ aliases }) => aliases.some((alias) => alias.toLowerCase() === wanted)) ??
    null
  );
}

const modelThere = ({ id, owner }: SeenModel): string => id.slice(owner.length + 1);

export async function aliasSeen(engines: EngineStore, id: string, alias: string): Promise<boolean> {
  const seen = await findSeen(engines, id);
  if (seen === null || seen.engine === 'pool') return false;
  if (!isAlias(alias)) throw taken(alias, 'it does not have the form of a model id');
  await engines.update(seen.owner, (entry) =>
    entry.type === 'pool' ? entry : { ...entry, aliases: { ...entry.aliases, [alias]: modelThere(seen) } },
  );
  return true;
}

export async function removeAliasSeen(engines: EngineStore, alias: string): Promise<boolean> {
  const wanted = alias.toLowerCase();
  const isIt = (name: string): boolean => name.toLowerCase() === wanted;
  const owner = (await seenModels(engines)).find(({ aliases }) => aliases.some(isIt))?.owner;
  if (owner === undefined) return false;
  await engines.update(owner, (entry) => {
    if (entry.type === 'pool') return entry;
    const left = Object.entries(entry.aliases).filter(([name]) => !isIt(name));
    return { ...entry, aliases: Object.fromEntries(left) };
  });
  return true;
}

/** `privacy` null removes the limit. False: no engine has the model. */
export async function limitSeen(engines: EngineStore, id: string, privacy: Privacy | null): Promise<boolean> {
  const seen = await findSeen(engines, id);
  if (seen === null) return false;
  if (seen.engine === 'command') {
    const message = `${seen.id} runs on this machine, so its requests go no farther.`;
    throw fail('invalid_request', { param: 'privacy', message });
  }
  const place = seen.engine === 'pool' ? seen.id : seen.owner;
  await engines.update(place, (entry) => {
    if (entry.type === 'command') return entry;
    if (entry.type === 'pool') {
      const { privacy: _, ...rest } = entry;
      return privacy === null ? rest : { ...rest, privacy };
    }
    const { [modelThere(seen)]: _, ...others } = entry.limits ?? {};
    const own = privacy === null ? {} : { [modelThere(seen)]: privacy };
    return { ...entry, limits: { ...others, ...own } };
  });
  return true;
}

export interface PoolPorts {
  readonly registry: Pick<Registry, 'list' | 'find'>;
  readonly engines: EngineStore;
}

/**
 * Throws if a member is unknown or of another kind. Resolves with the members that their upstreams did not list last
 * time.
 */
export async function addPool(
  { registry, engines }: PoolPorts,
  asked: Pick<PoolEntry, 'name' | 'members' | 'equalWeights' | 'privacy'>,
): Promise<readonly string[]> {
  checkModelId(asked.name);
  const hidden = (await registry.list()).find(({ id }) => id === asked.name);
  if (hidden !== undefined) throw taken(asked.name, 'a model of this id is installed');
  const same = await findSeen(engines, asked.name);
  if (same !== null && same.engine !== 'pool') throw taken(asked.name, `it already means ${same.id}`);
  const { entries } = await engines.read();
  const kinds = new Set<string>();
  const unlisted: string[] = [];
  for (const member of asked.members) {
    const seen = await findSeen(engines, member);
    if (seen?.engine === 'pool') throw taken(asked.name, `${member} is a pool itself`);
    const isOfEngine = entries.some(
      (entry) => entry.type === 'upstream' && nameIn(entry, member.toLowerCase()) !== null,
    );
    if (seen !== null) kinds.add(seen.kind);
    else if (!isOfEngine) kinds.add((await registry.find(member)).kind);
    else unlisted.push(member);
  }
  const message = 'The members of a pool must all be chat or all be embedding models.';
  if (kinds.size > 1) throw fail('invalid_request', { param: 'members', message });
  await engines.put({
    schema: 1,
    type: 'pool',
    ...asked,
    addedAt: new Date(systemClock.unixMs()).toISOString(),
  });
  return unlisted;
}
