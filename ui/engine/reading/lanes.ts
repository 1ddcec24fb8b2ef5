/**
 * ui/engine/reading owns the meaning of the engine's state for a viewer. It does not know how that is drawn. This
 * file: slots of a model, and jobs that wait for one.
 */
import type { EngineState, JobView, ModelView, SlotView } from '../../../src/wire/operation/engine-state.ts';
import { count, milliseconds, rate } from '../../parts/figures.ts';
import type { Trace } from '../../parts/trace-bar.tsx';

export interface LaneReading {
  readonly number: string;
  readonly jobId?: string;
  readonly kind: 'prefill' | 'decode' | 'suspended' | 'kept' | 'free';
  readonly trace: Trace;
  readonly doing: string;
  readonly client: string;
  readonly speed: string;
  readonly isFrozen: boolean;
}

/** Tokens per lane width: the longest fits, and all lanes of a model share it. */
export function scaleOf({ slots, num_ctx: window = Number.MAX_SAFE_INTEGER }: ModelView): number {
  const longest = Math.max(0, ...Object.values(slots).map((slot) => tokensIn(slot)));
  let scale = 256;
  while (scale < longest) scale *= 2;
  return Math.min(scale, Math.max(window, longest));
}

export function lanesOf(model: ModelView, jobs: EngineState['jobs']): LaneReading[] {
  const room = scaleOf(model);
  return Object.entries(model.slots)
    .toSorted(([a], [b]) => Number(a) - Number(b))
    .map(([number, slot]) => laneOf(number, slot, { room, job: jobs[slot.job_id ?? ''] }));
}

interface PlainReading {
  readonly jobId: string;
  readonly client: string;
  readonly words: string;
}

export function waitingFor(id: string, { jobs, at_ms: nowMs }: EngineState): PlainReading[] {
  return Object.entries(jobs)
    .filter(([, { model, state }]) => model === id && state === 'queued')
    .toSorted(([, a], [, b]) => (a.position ?? 0) - (b.position ?? 0))
    .map(([jobId, { client = '', position, reason, submitted_ms: since }]) => ({
      jobId,
      client,
      words: [
        `#${position ?? '?'} in the queue`,
        `for ${milliseconds(Math.max(0, nowMs - since))}`,
        // The heading already names the model.
        ...(reason === undefined || reason.startsWith('waiting for a slot') ? [] : [reason]),
      ].join(' · '),
    }));
}

/** Jobs outside the slots, such as signed answers, which get their own context. */
export function apartOf(id: string, { slots }: ModelView, jobs: EngineState['jobs']): PlainReading[] {
  const inSlots = new Set(Object.values(slots).map(({ job_id: job }) => job));
  return Object.entries(jobs)
    .filter(([job, { model, state }]) => model === id && state === 'running' && !inSlots.has(job))
    .map(([jobId, job]) => ({ jobId, client: job.client ?? '', words: apartWords(job) }));
}

function apartWords({ frozen, place, kind }: JobView): string {
  if (frozen === true) return 'signed answer, in its own context';
  if (place !== undefined) return `answered at ${place}`;
  return APART[kind] ?? kind;
}

const APART: Readonly<Record<string, string>> = {
  generate: 'preparing',
  embed: 'embedding, uses no slot',
  rank: 'reranking, uses no slot',
};

function laneOf(
  number: string,
  slot: SlotView,
  { room, job }: { readonly room: number; readonly job: JobView | undefined },
): LaneReading {
  if (slot.job_id === undefined) return idleLane(number, slot.kept_tokens, room);
  const { cached_tokens: cached = 0, prompt_tokens: prompt = 0, written_tokens: generated = 0, phase } = slot;
  const { accepted_tokens: drafted = 0 } = slot;
  const evaluated = slot.evaluated_tokens ?? prompt;
  const kind = phase ?? 'prefill';
  const prefilled = Math.max(0, (kind === 'prefill' ? evaluated : prompt) - cached);
  return {
    number,
    jobId: slot.job_id,
    kind,
    trace: { cached, prefilled, ahead: prompt - cached - prefilled, generated, drafted, room },
    doing: kind === 'prefill' ? prefillWords(slot, evaluated) : decodeWords(slot, prefilled),
    client: job?.client ?? '',
    speed: slot.tokens_per_s === undefined ? '' : `${rate(slot.tokens_per_s)} t/s`,
    isFrozen: job?.frozen === true,
  };
}

const idleLane = (number: string, kept: number, room: number): LaneReading => ({
  number,
  kind: kept > 0 ? 'kept' : 'free',
  trace: { cached: kept, prefilled: 0, generated: 0, room },
  doing: kept > 0 ? `${count(kept)} tokens kept for a follow-up` : 'free',
  client: '',
  speed: '',
  isFrozen: false,
});

function prefillWords(
  { prompt_tokens: prompt = 0, tokens_per_s: perSecond }: SlotView,
  evaluated: number,
): string {
  const left = perSecond === undefined || perSecond <= 0 ? null : (1000 * (prompt - evaluated)) / perSecond;
  return `processing ${count(evaluated)} of ${count(prompt)} tokens${left === null ? '' : ` · ${milliseconds(left)} left`}`;
}

function decodeWords(slot: SlotView, prefilled: number): string {
  const { cached_tokens: cached = 0, written_tokens: written = 0, accepted_tokens: accepted = 0 } = slot;
  const drafted = accepted === 0 ? '' : `, ${count(accepted)} of them drafted`;
  const waits = slot.phase === 'suspended' ? 'paused, older answers need its memory · ' : '';
  return `${waits}${count(cached)} reused · ${count(prefilled)} processed · ${count(written)} generated${drafted}`;
}

function tokensIn({
  job_id: job,
  kept_tokens: kept,
  prompt_tokens: prompt = 0,
  written_tokens: written = 0,
}: SlotView): number {
  return job === undefined ? kept : prompt + written;
}

/**
 * Tokens generated between two states, as far as their slots show them. `older`: jobs that began before the first
 * state; their earlier tokens are not counted.
 */
export function tokensBetween(
  before: EngineState,
  after: EngineState,
  older: ReadonlySet<string> = new Set(),
): number {
  const seen = new Map(slotsOf(before).map(({ job_id: job, written_tokens: written }) => [job, written]));
  return slotsOf(after).reduce((sum, { job_id: job, written_tokens: written = 0 }) => {
    if (job === undefined) return sum;
    const known = seen.get(job) ?? (older.has(String(job)) ? written : 0);
    return sum + Math.max(0, written - known);
  }, 0);
}

const slotsOf = ({ models }: EngineState): SlotView[] =>
  Object.values(models).flatMap(({ slots }) => Object.values(slots));
