import type { ModelKind } from '../../../contract/load.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import type { Registry } from '../../../store/registry/registry.ts';
import type { Models, ServedModel } from '../models/served-model.ts';
import type { RemoteModels } from './remote-models.ts';

export interface AllModelsPorts {
  readonly installed: Models;
  readonly remote: Pick<RemoteModels, 'list' | 'find'>;
  readonly registry: Pick<Registry, 'chosenDefault' | 'has'>;
}

const DEFAULT_OF: Readonly<Record<string, ModelKind>> = { default: 'chat', 'default-embedding': 'embedding' };

export function allModels({ installed, remote, registry }: AllModelsPorts): Models {
  const meant = async (name: string): Promise<ServedModel | null> => {
    const kind = DEFAULT_OF[name];
    const named = kind === undefined ? name : await registry.chosenDefault(kind);
    if (named === null || (await registry.has(named))) return null;
    return remote.find(named);
  };
  return {
    list: async () => {
      const [here, there] = await Promise.all([installed.list(), remote.list()]);
      const ids = new Set(here.map(({ id }) => id));
      const all = [...here, ...there.filter(({ id }) => !ids.has(id))];
      return all.sort((one, other) => (one.id < other.id ? -1 : 1));
    },
    find: async (name) => (await meant(name)) ?? installed.find(name),
    resolve: async (name, kind) => {
      const found = await meant(name);
      if (found === null) return installed.resolve(name, kind);
      if (found.kind === kind) return found;
      const use = kind === 'chat' ? 'chat or completions' : 'embeddings';
      throw fail('wrong_model_kind', {
        model: found.id,
        kind: found.kind,
        use,
        wanted: kind,
        param: 'model',
      });
    },
    // A missing model is an error for requests that name it, but not for lists.
    defaultId: async (kind) =>
      (await meant(kind === 'chat' ? 'default' : 'default-embedding').catch(() => null))?.id ??
      installed.defaultId(kind),
  };
}
