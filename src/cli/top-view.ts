import { readable } from '../lib/base/byte-size.ts';
import type { EngineState, JobView, ModelView, SlotView, CacheView } from '../wire/operation/engine-state.ts';
import { printable } from './context.ts';
import { spanText } from './words/relative-time.ts';

export interface ViewOptions {
  readonly url: string;
  readonly nowMs: number;
  readonly width: number;
}

const BAR_CHARS = 24;
const MARKS = { full: '█', part: '▓', rest: '░', kept: '·' } as const;

export function engineView(state: EngineState, options: ViewOptions): string[] {
  const models = Object.entries(state.models);
  return [
    headLine(state, options),
    ...deviceLines(state),
    ...models.flatMap(([id, model]) => ['', ...modelLines(id, model, state, options)]),
    ...(models.length === 0 ? ['', 'No model is loaded; the next request loads the one that it names.'] : []),
    ...waitingLines(state, options),
    ...upstreamLines(state, options.nowMs),
  ].map((line) => cut(printable(line), options.width));
}

function headLine(state: EngineState, { url, nowMs }: ViewOptions): string {
  const running = Object.values(state.jobs).filter((job) => job.state === 'running').length;
  const rate = sum(
    allSlots(state).filter(({ phase }) => phase === 'decode'),
    (slot) => slot.tokens_per_s ?? 0,
  );
  return [
    `Hearth at ${url}`,
    `up ${spanText(nowMs - state.started_ms)}`,
    `${running} running`,
    `${state.queued} waiting`,
    `${rate.toFixed(1)} tokens/s`,
  ].join('   ');
}

function deviceLines({ devices, models }: EngineState): string[] {
  return Object.entries(devices).map(([name, device]) => {
    const held = Object.values(models).map(({ memory }) => memory[name]);
    const used = sum(held, (part) => part?.measured_bytes ?? part?.planned_bytes ?? 0);
    const total = device.total_bytes ?? used + device.free_bytes;
    const others = Math.max(0, total - used - device.free_bytes);
    const bar = drawBar([
      [MARKS.full, used / total],
      [MARKS.part, others / total],
    ]);
    const known = (['weights', 'kv', 'compute'] as const).flatMap((what) => {
      const bytes = sum(held, (part) => part?.[`${what}_bytes`] ?? 0);
      return bytes === 0 ? [] : [[what === 'kv' ? 'KV cache' : what, bytes] as const];
    });
    const worker = used - sum(known, ([, bytes]) => bytes);
    const parts = (known.length === 0 || worker <= 0 ? known : [...known, ['worker', worker] as const]).map(
      ([what, bytes]) => `${what} ${readable(bytes)}`,
    );
    const detail = parts.length === 0 ? '' : ` (${parts.join(', ')})`;
    const isMeasured = held.some((part) => part?.measured_bytes !== undefined);
    const planned = isMeasured ? `, planned ${readable(sum(held, (part) => part?.planned_bytes ?? 0))}` : '';
    return `${name}  ${bar}  models ${readable(used)}${detail}${planned}, free ${readable(device.free_bytes)} of ${readable(total)}`;
  });
}

function modelLines(id: string, model: ModelView, { jobs }: EngineState, { nowMs }: ViewOptions): string[] {
  const facts = [
    id,
    model.kind,
    model.state === 'loading' ? `loading for ${spanText(nowMs - model.since_ms)}` : model.state,
    ...(model.num_ctx === undefined ? [] : [`window ${grouped(model.num_ctx)}`]),
    ...(model.threads === undefined
      ? []
      : [`${model.threads} ${model.threads === 1 ? 'thread' : 'threads'}`]),
    ...(model.place === undefined ? [] : [`at ${model.place}`]),
    `${model.running} running`,
    ...(model.queued === 0 ? [] : [`${model.queued} waiting`]),
    ...(model.expires_ms === undefined ? [] : [`unloads in ${spanText(model.expires_ms - nowMs)}`]),
    ...(model.eviction?.rank === 1 ? [`next to unload (${model.eviction.reason})`] : []),
  ];
  const cache = model.cache === undefined ? [] : [cacheLine(model.cache)];
  const slots = Object.entries(model.slots).map(([number, slot]) => slotLine(number, slot, model, jobs));
  const frozen = Object.values(jobs).filter((job) => job.frozen === true && isRunning(job, id));
  return [facts.join('   '), ...slots, ...cache, ...frozen.map((job) => `   frozen lane${clientLabel(job)}`)];
}

function slotLine(number: string, slot: SlotView, model: ModelView, jobs: EngineState['jobs']): string {
  const job = slot.job_id === undefined ? undefined : jobs[slot.job_id];
  return `${number.padStart(4)}  ${slotBar(slot, model)}  ${slotWords(slot)}${clientLabel(job)}`;
}

/** Parts of the window: cached, prefilled or written since, and still to be prefilled. */
function slotBar(slot: SlotView, { num_ctx: numCtx = 0 }: ModelView): string {
  const window = Math.max(1, numCtx);
  if (slot.job_id === undefined) return drawBar([[MARKS.kept, slot.kept_tokens / window]], ' ');
  const cached = slot.cached_tokens ?? 0;
  const done = (slot.evaluated_tokens ?? 0) - cached + (slot.written_tokens ?? 0);
  const ahead = (slot.prompt_tokens ?? 0) - (slot.evaluated_tokens ?? 0);
  return drawBar(
    [
      [MARKS.part, cached / window],
      [MARKS.full, done / window],
      [MARKS.rest, ahead / window],
    ],
    ' ',
  );
}

function slotWords(slot: SlotView): string {
  const { phase, tokens_per_s: rate, drafted_tokens: drafted = 0, accepted_tokens: accepted = 0 } = slot;
  const speed = rate === undefined ? '' : `   ${rate.toFixed(1)} t/s`;
  const [prompt, evaluated, written] = [slot.prompt_tokens, slot.evaluated_tokens, slot.written_tokens].map(
    (count) => grouped(count ?? 0),
  );
  switch (phase) {
    case 'prefill':
      return `prefill   ${evaluated} of ${prompt}, ${grouped(slot.cached_tokens ?? 0)} cached${speed}`;
    case 'suspended':
      return `waits for KV cells   ${written} written`;
    case 'decode':
      return `decode    ${prompt} in, ${written} out${speed}${drafted === 0 ? '' : `   ${accepted} of ${drafted} drafts`}`;
    default:
      return slot.kept_tokens === 0 ? 'free' : `idle      ${grouped(slot.kept_tokens)} tokens kept`;
  }
}

function waitingLines(state: EngineState, { nowMs }: ViewOptions): string[] {
  const waiting = Object.values(state.jobs).filter((job) => job.state === 'queued');
  if (waiting.length === 0) return [];
  const clients = state.clients.filter(({ queued }) => queued > 0);
  return [
    '',
    `Waiting: ${clients.map(({ client, queued }) => `${client === '' ? 'unnamed' : client} ${queued}`).join(', ')}`,
    ...waiting
      .slice(0, 5)
      .map(
        (job) =>
          `${String(job.position ?? '').padStart(4)}  ${spanText(nowMs - job.submitted_ms)}   ${job.reason ?? job.model}${clientLabel(job)}`,
      ),
  ];
}

const isRunning = (job: JobView, model: string): boolean => job.state === 'running' && job.model === model;

const clientLabel = (job: JobView | undefined): string =>
  job?.client === undefined ? '' : `   ${job.client}`;

const allSlots = ({ models }: EngineState): SlotView[] =>
  Object.values(models).flatMap(({ slots }) => Object.values(slots));

function drawBar(
  parts: readonly (readonly [mark: string, share: number])[],
  rest: string = MARKS.rest,
): string {
  let end = 0;
  let bar = '';
  for (const [mark, share] of parts) {
    end += Math.max(0, share);
    bar = bar.padEnd(Math.min(BAR_CHARS, Math.ceil(end * BAR_CHARS - 1e-9)), mark);
  }
  return bar.padEnd(BAR_CHARS, rest);
}

const cut = (line: string, width: number): string =>
  line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`;

function cacheLine({ ram, disk, restores, restore_ms: ms, ...cache }: CacheView): string {
  const evictions = cache.slot_evictions + (ram?.evictions ?? 0) + (disk?.evictions ?? 0);
  const tier = (name: string, bytes: number, limit: number): string =>
    `${name} ${readable(bytes)} of ${readable(limit)}`;
  return [
    '   cache',
    ...(ram === undefined ? [] : [tier('memory', ram.bytes, ram.limit_bytes)]),
    ...(disk === undefined ? [] : [diskTier(disk)]),
    ...(restores === 0 ? [] : [`${grouped(restores)} brought back in ${ms} ms`]),
    ...(evictions === 0 ? [] : [`${grouped(evictions)} evicted`]),
  ].join('   ');
}

function diskTier({
  bytes,
  others_bytes: others,
  limit_bytes: limit,
}: NonNullable<CacheView['disk']>): string {
  return `disk ${readable(bytes)} (all models ${readable(bytes + others)} of ${readable(limit)})`;
}

function upstreamLines({ upstreams }: EngineState, nowMs: number): string[] {
  const lines = Object.entries(upstreams).map(([name, upstream]) => {
    const { why, until_ms: until, first_token_ms: first } = upstream;
    const failures = sum(Object.values(upstream.failures), (times) => times);
    const span = until === undefined || until <= nowMs ? '' : ` for ${spanText(until - nowMs)}`;
    return [
      `   ${name}`,
      why === undefined ? upstream.state : `${upstream.state}${span} (${why})`,
      upstream.privacy,
      `${upstream.in_flight} from here`,
      ...(upstream.running === undefined ? [] : [`${upstream.running} running there`]),
      ...(first === undefined ? [] : [`first token ${Math.round(first)} ms`]),
      `${grouped(upstream.requests)} requests`,
      ...(failures === 0 ? [] : [`${grouped(failures)} failed`]),
    ].join('   ');
  });
  return lines.length === 0 ? [] : ['', 'Upstreams', ...lines];
}

const sum = <T>(items: readonly T[], pick: (item: T) => number): number =>
  items.reduce((total, item) => total + pick(item), 0);

const grouped = (count: number): string => count.toLocaleString('en-US');
