import type { ResidencyList } from '../wire/residency.ts';
import type { Service } from './service.ts';

/** What is loaded now; asking loads and prolongs nothing. */
export function listResidencies(service: Service): ResidencyList {
  return {
    object: 'list',
    data: service.engine.residencies().map((item) => ({
      id: item.modelId,
      kind: item.kind,
      state: item.state,
      pid: item.facts?.pid ?? null,
      memory_bytes: item.facts?.residentBytes ?? item.plannedBytes,
      num_ctx: item.facts?.numCtx ?? null,
      slots: item.facts?.slots ?? null,
      threads: item.facts?.threads ?? null,
      running: item.running,
      queued: item.queued,
      expires_at: item.expiresAtMs === null ? null : new Date(item.expiresAtMs).toISOString(),
    })),
  };
}

/** Unloads a model by id or alias; a model that is not loaded is simply reported so. */
export async function unloadModel(
  service: Service,
  name: string,
): Promise<{ model: string; unloaded: boolean }> {
  const model = await service.registry.find(name);
  return { model: model.id, unloaded: await service.engine.unload(model.id) };
}
