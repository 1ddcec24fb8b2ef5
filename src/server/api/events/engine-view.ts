import type { CacheTiers, TierFacts, SlotState, SlotStates } from '../../../contract/slots.ts';
import { bytesOn } from '../../engine/device-memory.ts';
import type { OpenJob, ResidencyStatus, UpstreamStatus } from '../../engine/ports.ts';
import type {
  CacheView,
  ClientView,
  DeviceView,
  EngineState,
  GpuView,
  JobView,
  ModelMemoryView,
  ModelView,
  SlotView,
} from '../../../wire/operation/engine-state.ts';
import { shownJobId } from '../caller.ts';
import type { UpstreamView } from '../../../wire/operation/upstream.ts';
import type { Recording } from '../../../wire/operation/requests.ts';

export interface DeviceStatus {
  readonly device: string;
  readonly totalBytes: number | null;
  readonly freeBytes: number;
  readonly reserveBytes: number;
}

export interface EngineFacts {
  readonly atMs: number;
  readonly toUnixMs: number;
  readonly bootId: string;
  readonly startedMs: number;
  readonly residencies: readonly ResidencyStatus[];
  readonly jobs: readonly OpenJob[];
  readonly slots: ReadonlyMap<string, SlotStates>;
  readonly slotRate: (modelId: string, jobId: string) => number | null;
  readonly devices: readonly DeviceStatus[];
  readonly gpu: GpuView | null;
  readonly upstreams: readonly UpstreamStatus[];
  readonly lastRequest: number;
  readonly recording: Recording;
}

/** Jobs in a state: all running ones, and the first of the waiting ones. */
export const MOST_LISTED_JOBS = 200;
const MOST_LISTED_CLIENTS = 32;
/** Free memory changes constantly; smaller changes are not sent. */
const FREE_STEP_BYTES = 16 * 2 ** 20;

export function engineState(facts: EngineFacts): EngineState {
  const { jobs } = facts;
  const running = jobs.filter((job) => job.running !== null);
  const queued = jobs.filter((job) => job.running === null);
  const listed = [...running, ...queued].slice(0, MOST_LISTED_JOBS);
  return {
    at_ms: facts.atMs,
    boot_id: facts.bootId,
    started_ms: facts.startedMs,
    models: Object.fromEntries(facts.residencies.map((item) => [item.modelId, modelView(item, facts)])),
    jobs: Object.fromEntries(listed.map((job) => [shownJobId(job.jobId), jobView(job)])),
    queued: queued.length,
    clients: clientViews(jobs),
    devices: Object.fromEntries(
      facts.devices
        .filter(({ freeBytes }) => Number.isFinite(freeBytes))
        .map((device) => [device.device, deviceView(device)]),
    ),
    ...(facts.gpu === null ? {} : { gpu: facts.gpu }),
    upstreams: Object.fromEntries(facts.upstreams.map((each) => [each.name, upstreamView(each, facts)])),
    last_request: facts.lastRequest,
    recording: facts.recording,
  };
}

function modelView(item: ResidencyStatus, { slots, slotRate }: EngineFacts): ModelView {
  const { facts } = item;
  return present({
    kind: item.kind,
    engine: item.engine,
    place: item.place,
    state: item.state,
    since_ms: item.sinceMs,
    last_used_ms: item.lastUsedMs,
    expires_ms: item.expiresAtMs,
    eviction:
      item.evictionRank === null
        ? null
        : { rank: item.evictionRank, reason: whyEvicted(item, item.evictionRank) },
    num_ctx: facts?.numCtx,
    cells: facts?.cells,
    threads: facts?.details?.['threads'],
    pid: facts?.details?.['pid'],
    running: item.running,
    queued: item.queued,
    memory: memoryView(item),
    cache: item.cache === undefined ? null : cacheView(item.cache),
    slots: Object.fromEntries(
      (slots.get(item.modelId) ?? []).map((slot) => [
        String(slot.slot),
        slotView(slot, slot.work === undefined ? null : slotRate(item.modelId, slot.work.jobId)),
      ]),
    ),
  });
}

function whyEvicted({ state, running }: ResidencyStatus, rank: number): string {
  if (running > 0) return 'busy: its answers would be finished first';
  if (state === 'loading') return 'still loading';
  return rank === 1 ? 'idle for longest' : 'idle';
}

function memoryView({ planned, facts }: ResidencyStatus): Record<string, ModelMemoryView> {
  const measured = facts?.measured ?? [];
  const parts = facts?.parts ?? [];
  const devices = new Set([...planned, ...measured, ...parts].map(({ device }) => device));
  return Object.fromEntries(
    [...devices].map((device) => {
      const part = parts.find((each) => each.device === device);
      const view = present({
        planned_bytes: Math.round(bytesOn(planned, device)),
        measured_bytes: facts?.measured === undefined ? null : Math.round(bytesOn(measured, device)),
        weights_bytes: rounded(part?.modelBytes),
        kv_bytes: rounded(part?.contextBytes),
        compute_bytes: rounded(part?.computeBytes),
      });
      return [device, view];
    }),
  );
}

function cacheView({ slotEvictions, ram, disk, restores, restoreMs }: CacheTiers): CacheView {
  return present({
    slot_evictions: slotEvictions,
    ram: ram === null ? null : tierView(ram),
    disk: disk === null ? null : { ...tierView(disk), others_bytes: disk.othersBytes },
    restores,
    restore_ms: Math.round(restoreMs),
  });
}

function tierView({ bytes, limitBytes, tokens, evictions, restoredTokens }: TierFacts) {
  return { bytes, limit_bytes: limitBytes, tokens, evictions, restored_tokens: restoredTokens };
}

const rounded = (bytes: number | undefined): number | null =>
  bytes === undefined ? null : Math.round(bytes);

function slotView({ keptTokens, work }: SlotState, rate: number | null): SlotView {
  return present({
    kept_tokens: keptTokens,
    job_id: work === undefined ? null : shownJobId(work.jobId),
    phase: work?.phase,
    prompt_tokens: work?.promptTokens,
    cached_tokens: work?.cachedTokens,
    evaluated_tokens: work?.evaluatedTokens,
    written_tokens: work?.writtenTokens,
    drafted_tokens: work?.draftedTokens,
    accepted_tokens: work?.acceptedTokens,
    tokens_per_s: rate === null ? null : Math.round(rate * 10) / 10,
  });
}

function jobView(job: OpenJob): JobView {
  const { waiting, running } = job;
  const isCounted = running !== null && running.promptTokens > 0;
  return present({
    model: job.modelId,
    kind: job.kind,
    state: running === null ? ('queued' as const) : ('running' as const),
    client: job.clientName === '' ? null : job.clientName,
    place: job.place,
    frozen: job.isFrozen ? (true as const) : null,
    submitted_ms: job.submittedMs,
    position: waiting === null || waiting.reason === '' ? null : waiting.position,
    reason: waiting?.reason === '' ? null : waiting?.reason,
    started_ms: running?.sinceMs,
    first_text_ms: running?.firstTextMs,
    prompt_tokens: isCounted ? running.promptTokens : null,
    cached_tokens: isCounted ? running.cachedTokens : null,
    num_ctx: isCounted ? running.numCtx : null,
  });
}

function clientViews(jobs: readonly OpenJob[]): ClientView[] {
  const views = new Map<string, { client: string; queued: number; running: number }>();
  for (const { clientName, running } of jobs) {
    const view = views.get(clientName) ?? { client: clientName, queued: 0, running: 0 };
    if (running === null) view.queued += 1;
    else view.running += 1;
    views.set(clientName, view);
  }
  return [...views.values()]
    .sort((a, b) => b.queued + b.running - a.queued - a.running || a.client.localeCompare(b.client))
    .slice(0, MOST_LISTED_CLIENTS);
}

function deviceView({ totalBytes, freeBytes, reserveBytes }: DeviceStatus): DeviceView {
  return present({
    total_bytes: rounded(totalBytes ?? undefined),
    free_bytes: Math.max(0, Math.floor(freeBytes / FREE_STEP_BYTES) * FREE_STEP_BYTES),
    reserve_bytes: Math.round(reserveBytes),
  });
}

function upstreamView(upstream: UpstreamStatus, { toUnixMs }: EngineFacts): UpstreamView {
  const { load, untilMs, firstTokenMs } = upstream;
  return present({
    dialect: upstream.dialect,
    privacy: upstream.privacy,
    state: upstream.state,
    why: upstream.why,
    until_ms: untilMs === null || !Number.isFinite(untilMs) ? null : Math.round(untilMs + toUnixMs),
    in_flight: upstream.inFlight,
    first_token_ms: firstTokenMs === null ? null : Math.round(firstTokenMs),
    running: load?.running,
    waiting: load?.waiting,
    capacity: load?.capacity,
    kv_use: load?.kvUse,
    requests: upstream.requests,
    failures: { ...upstream.failures },
    spills: upstream.spills,
    affinity_hits: upstream.affinityHits,
    failovers: upstream.failovers,
    resumptions: upstream.resumptions,
  });
}

type Present<T> = {
  [K in keyof T as null extends T[K] ? never : undefined extends T[K] ? never : K]: T[K];
} & {
  [K in keyof T as null extends T[K] ? K : undefined extends T[K] ? K : never]?: NonNullable<T[K]>;
};

/** Removes null and undefined members: in a merge patch null would delete a member. */
function present<T extends object>(members: T): Present<T> {
  const kept = Object.entries(members).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(kept) as Present<T>;
}

export function withOwnClients<State extends Partial<EngineState>>(state: State, name: string): State {
  const { clients, jobs } = state;
  return {
    ...state,
    ...(clients === undefined ? {} : { clients: clients.filter(({ client }) => client === name) }),
    ...(jobs === undefined
      ? {}
      : { jobs: Object.fromEntries(Object.entries(jobs).map(([id, job]) => [id, ownOnly(job, name)])) }),
  };
}

function ownOnly<Job extends EngineState['jobs'][string] | null>(job: Job, name: string): Job {
  if (job === null || job.client === name) return job;
  const { client: _, ...rest } = job;
  return rest as Job;
}
