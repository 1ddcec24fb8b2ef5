import type { ResidencyList } from '../wire/residency.ts';
import type { Engine } from '../engine/ports.ts';
import type { Models } from './models/served-model.ts';

/** What is loaded now; asking loads nothing and keeps nothing loaded. */
export function listResidencies(engine: Pick<Engine, 'residencies'>): ResidencyList {
  return {
    object: 'list',
    data: engine.residencies().map((item) => ({
      id: item.modelId,
      kind: item.kind,
      state: item.state,
      pid: item.facts?.details?.['pid'] ?? null,
      memory_bytes: item.facts?.residentBytes ?? item.plannedBytes,
      num_ctx: item.facts?.numCtx ?? null,
      slots: item.facts?.slots ?? null,
      threads: item.facts?.details?.['threads'] ?? null,
      running: item.running,
      queued: item.queued,
      expires_at: item.expiresAtMs === null ? null : new Date(item.expiresAtMs).toISOString(),
    })),
  };
}

export interface UnloadPorts {
  readonly models: Pick<Models, 'find'>;
  readonly engine: Pick<Engine, 'unload'>;
}

/** Unloads a model by id or alias; one that is not loaded is reported so. */
export async function unloadModel({ models, engine }: UnloadPorts, name: string) {
  const { id } = await models.find(name);
  return { model: id, unloaded: await engine.unload(id) };
}
