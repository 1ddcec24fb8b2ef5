import { COMMAND_ENGINE, commandTarget } from '../../engine/command/source.ts';
import type { Privacy } from '../../../contract/settings/privacy.ts';
import type { ModelTarget, Medium } from '../../engine/ports.ts';
import { poolTarget } from '../../engine/upstream/pool-target.ts';
import { POOL_ENGINE, REMOTE_ENGINE } from '../../engine/upstream/ports.ts';
import { remoteTarget } from '../../engine/upstream/remote-target.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import type { EngineStore } from '../../../store/engines/engine-store.ts';
import type {
  CommandEntry,
  CommandModel,
  EngineEntry,
  KnownModel,
  PoolEntry,
  UpstreamEntry,
} from '../../../store/engines/entry.ts';
import { commandSource } from '../../../store/engines/sources.ts';
import { upstreamRevision, openUpstream } from '../../../store/engines/sources.ts';
import type { Models, ServedModel, ModelDefaults } from '../models/served-model.ts';
import { Directory, type DirectoryPorts } from './directory.ts';
import { ownName } from './own-name.ts';
import { lazy } from '../../../lib/base/memoize-by-object.ts';

export interface RemotePorts extends DirectoryPorts {
  readonly engines: Pick<EngineStore, 'read'>;
  readonly isSealed: boolean;
  readonly installed: Pick<Models, 'find'>;
}

export class RemoteModels {
  readonly #ports: RemotePorts;
  readonly #directory: Directory;
  /** Cached per known model, and made again when the entry or the list of models is read again. */
  readonly #made = new WeakMap<KnownModel, { readonly entry: EngineEntry; readonly model: ServedModel }>();

  constructor(ports: RemotePorts) {
    this.#ports = ports;
    this.#directory = new Directory(ports);
  }

  /** Throws if there are engines, which a sealed service could not use. */
  async refuseSealed(): Promise<void> {
    const { entries } = await this.#ports.engines.read();
    const names = entries.flatMap(({ type, name }) => (type === 'pool' ? [] : [`"${name}"`]));
    if (names.length > 0) throw fail('engines_sealed', { names: names.join(', ') });
  }

  async upstreams() {
    const { entries } = await this.#ports.engines.read();
    return entries.flatMap((entry) => {
      if (entry.type !== 'upstream') return [];
      const { name, dialect, privacy, publicKey } = entry;
      return [{ name, dialect, privacy, pinned: publicKey !== undefined }];
    });
  }

  async list(): Promise<readonly ServedModel[]> {
    const { entries } = await this.#ports.engines.read();
    const single = entries.flatMap((entry) => {
      if (this.#ports.isSealed) return [];
      if (entry.type === 'upstream')
        return this.#directory.models(entry).map((known) => this.#ofUpstream(entry, known));
      return entry.type === 'command' ? entry.models.map((model) => this.#ofCommand(entry, model)) : [];
    });
    const pools = entries.filter((entry) => entry.type === 'pool');
    const pooled = await Promise.all(pools.map((pool) => this.#ofPool(pool).catch(() => null)));
    return [...single, ...pooled.filter((model) => model !== null)];
  }

  /** Null: no engine can have such a model. Throws if one should have it but does not. */
  async find(name: string): Promise<ServedModel | null> {
    const wanted = name.toLowerCase();
    const { entries } = await this.#ports.engines.read();
    const pool = entries.find((entry) => entry.type === 'pool' && entry.name === wanted);
    if (pool?.type === 'pool') return this.#ofPool(pool);
    return this.#single(entries, wanted);
  }

  async #single(entries: readonly EngineEntry[], wanted: string): Promise<ServedModel | null> {
    for (const entry of entries) {
      if (entry.type === 'pool') continue;
      const model = nameIn(entry, wanted);
      if (model === null) continue;
      if (this.#ports.isSealed) throw fail('engines_sealed', { names: `"${entry.name}"`, param: 'model' });
      if (entry.type === 'command') {
        const found = entry.models.find(({ id }) => id.toLowerCase() === model.toLowerCase());
        if (found !== undefined) return this.#ofCommand(entry, found);
        throw fail('upstream_model_gone', { upstream: entry.name, model, param: 'model' });
      }
      const known =
        named(this.#directory.models(entry), model) ?? named(await this.#directory.fresh(entry), model);
      if (known !== undefined) return this.#ofUpstream(entry, known);
      throw fail('upstream_model_gone', { upstream: entry.name, model, param: 'model' });
    }
    return null;
  }

  async #ofPool(pool: PoolEntry): Promise<ServedModel> {
    const { entries } = await this.#ports.engines.read();
    const found = await Promise.allSettled(
      pool.members.map(
        async (member) =>
          (await this.#single(entries, member.toLowerCase())) ?? this.#ports.installed.find(member),
      ),
    );
    const [first, ...others] = found.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    if (first === undefined) throw (found[0] as PromiseRejectedResult).reason;
    const members = [first, ...others.filter(({ kind }) => kind === first.kind)] as const;
    const windows = members.flatMap(({ contextLength }) => contextLength ?? []);
    return {
      ...first,
      id: pool.name,
      aliases: [],
      ownedBy: 'pool',
      engine: POOL_ENGINE,
      addedAt: pool.addedAt,
      contextLength: windows.length === 0 ? null : Math.min(...windows),
      media: first.media.filter((medium) => members.every(({ media }) => media.includes(medium))),
      defaults: NO_DEFAULTS,
      settings: {},
      target: () => {
        const [target, ...rest] = members.map((member) => member.target());
        if (target === undefined) throw new Error(`pool ${pool.name} has no member`);
        const { equalWeights, privacy: farthest } = pool;
        return poolTarget(pool.name, [target, ...rest], { equalWeights, ...(farthest && { farthest }) });
      },
      proof: null,
      template: null,
    };
  }

  #ofUpstream(entry: UpstreamEntry, known: KnownModel): ServedModel {
    return this.#once(entry, known, () => {
      const own = ownName(known.name);
      const id = `${entry.name}/${own}`;
      const revision = `${upstreamRevision(entry)} ${JSON.stringify(known)}`;
      return servedModel({
        id,
        known,
        aliases: modelAliases(entry, own),
        ownedBy: entry.name,
        engine: REMOTE_ENGINE,
        // An engine that does not report its inputs gets text only.
        media: known.media ?? [],
        addedAt: entry.addedAt,
        sizeBytes: 0,
        target: () => ({
          ...remoteTarget(id, { upstream: openUpstream(entry, this.#ports.env), model: known }, revision),
          ...modelFarthest(entry, known),
        }),
      });
    });
  }

  #ofCommand(entry: CommandEntry, { id: own, known, model, memoryBytes }: CommandModel): ServedModel {
    return this.#once(entry, known, () => {
      const id = `${entry.name}/${own}`;
      return servedModel({
        id,
        known,
        aliases: modelAliases(entry, own),
        ownedBy: entry.name,
        engine: COMMAND_ENGINE,
        media: known.media ?? [],
        addedAt: entry.addedAt,
        sizeBytes: memoryBytes,
        target: () =>
          commandTarget(id, { ...commandSource(entry), modelWord: model ?? null, model: known, memoryBytes }),
      });
    });
  }

  #once(entry: EngineEntry, known: KnownModel, make: () => ServedModel): ServedModel {
    const made = this.#made.get(known);
    if (made?.entry === entry) return made.model;
    const model = make();
    this.#made.set(known, { entry, model });
    return model;
  }
}

export function modelLimit({ limits = {} }: UpstreamEntry, model: string): Privacy | null {
  return Object.entries(limits).find(([name]) => ownName(name) === model)?.[1] ?? null;
}

function modelFarthest(entry: UpstreamEntry, { name }: KnownModel): Pick<ModelTarget, 'farthest'> {
  const farthest = modelLimit(entry, ownName(name));
  return farthest === null ? {} : { farthest };
}

type Named = Pick<UpstreamEntry, 'name' | 'aliases'>;

export function nameIn({ name, aliases }: Named, wanted: string): string | null {
  const alias = Object.entries(aliases).find(([each]) => each.toLowerCase() === wanted);
  if (alias !== undefined) return alias[1];
  return wanted.startsWith(`${name}/`) ? wanted.slice(name.length + 1) : null;
}

export function modelAliases({ aliases }: Named, model: string): string[] {
  return Object.entries(aliases).flatMap(([alias, named]) => (ownName(named) === model ? [alias] : []));
}

/** Matches exactly, then case-insensitively, without `:latest`, or by the last part of a path. */
export function named(models: readonly KnownModel[], wanted: string): KnownModel | undefined {
  const keys = [wanted, wanted.toLowerCase(), wanted.toLowerCase().replace(/:latest$/, '')];
  return (
    models.find(({ name }) => name === wanted) ??
    models.find(({ name }) => keys.includes(name.toLowerCase())) ??
    models.find(({ name }) => keys.includes(name.toLowerCase().replace(/:latest$/, ''))) ??
    models.find(({ name }) => keys.includes(ownName(name).toLowerCase()))
  );
}

export const NO_DEFAULTS: ModelDefaults = {
  sampling: {},
  maxTokens: null,
  stop: [],
  keepAlive: null,
  system: null,
  compact: null,
  dimensions: null,
  tokenIds: 'auto',
};

interface RemoteModel {
  readonly id: string;
  readonly aliases: readonly string[];
  readonly ownedBy: string;
  readonly engine: string;
  readonly media: readonly Medium[];
  readonly addedAt: string;
  readonly sizeBytes: number;
  readonly known: KnownModel;
  readonly target: () => ModelTarget;
}

function servedModel({ known, target, ...named }: RemoteModel): ServedModel {
  return {
    ...named,
    kind: known.kind,
    name: known.name,
    architecture: '',
    quant: null,
    parameterCount: null,
    contextLength: known.contextLength,
    digest: known.digest,
    pooling: null,
    embeddingWidth: known.embeddingWidth,
    // Its engine has a template, or reports an error.
    hasChatTemplate: true,
    reasoning: known.reasoning ?? true,
    defaults: NO_DEFAULTS,
    settings: {},
    target: lazy(target),
    proof: null,
    template: null,
  };
}
