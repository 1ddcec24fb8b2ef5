import type { ResidencyList } from '../../wire/residency.ts';
import { bytesOn, totalBytes } from '../engine/device-memory.ts';
import type { Engine, ResidencyStatus, UpstreamStatus } from '../engine/ports.ts';
import type { Models } from './models/served-model.ts';

export type MeasuredSpeed = (modelId: string) => number | null;

/** Listing neither loads a model nor keeps one loaded. */
export function listResidencies(
  engine: Pick<Engine, 'residencies'>,
  measuredSpeed: MeasuredSpeed = () => null,
  upstreams: () => readonly UpstreamStatus[] = () => [],
): ResidencyList {
  return {
    object: 'list',
    data: engine.residencies().map((item) => ({
      id: item.modelId,
      kind: item.kind,
      state: item.state,
      pid: item.facts?.details?.['pid'] ?? null,
      memory_bytes: totalBytes(item.facts?.measured ?? item.planned),
      memory: memoryByDevice(item),
      num_ctx: item.facts?.numCtx ?? null,
      slots: item.facts?.slots ?? null,
      threads: item.facts?.details?.['threads'] ?? null,
      tokens_per_second: measuredSpeed(item.modelId),
      running: item.running,
      queued: item.queued,
      expires_at: item.expiresAtMs === null ? null : new Date(item.expiresAtMs).toISOString(),
    })),
    upstreams: upstreams().map((each) => ({
      name: each.name,
      privacy: each.privacy,
      state: each.state,
      why: each.why,
      in_flight: each.inFlight,
      first_token_ms: each.firstTokenMs === null ? null : Math.round(each.firstTokenMs),
      requests: each.requests,
      failures: { ...each.failures },
      spills: each.spills,
      affinity_hits: each.affinityHits,
      failovers: each.failovers,
      resumptions: each.resumptions,
    })),
  };
}

function memoryByDevice({ planned, facts }: ResidencyStatus): ResidencyList['data'][number]['memory'] {
  const measured = facts?.measured;
  const devices = new Set([...planned, ...(measured ?? [])].map(({ device }) => device));
  return [...devices].map((device) => ({
    device,
    planned_bytes: Math.round(bytesOn(planned, device)),
    measured_bytes: measured === undefined ? null : Math.round(bytesOn(measured, device)),
  }));
}

export interface UnloadPorts {
  readonly models: Pick<Models, 'find'>;
  readonly engine: Pick<Engine, 'unload'>;
}

export async function unloadModel({ models, engine }: UnloadPorts, name: string) {
  const { id } = await models.find(name);
  return { model: id, unloaded: await engine.unload(id) };
}
