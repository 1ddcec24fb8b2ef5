/**
 * contract owns what crosses between the server (server/engine/local) and its forked child (worker/): plain, bounded data
 * only. It knows nothing of either side. The life of a child: boot → `booted` → any number of questions → `load` →
 * `loading`… → `loaded` → jobs → the channel closes → exit. The child exits when the channel closes, so a killed
 * server leaves no orphan.
 */
import { type Static, Type } from 'typebox';
import { Job } from './job.ts';
import { JobEvent, ModelFormatFacts } from './job-event.ts';
import { BackendFacts, FormatSpec, LoadedFacts, LoadSpec, MeasureSpec } from './load.ts';
import { MOST_THREADS } from './limits.ts';
import { Measurement } from './memory.ts';
import { CacheTiers, SlotStates } from './slots.ts';

/** An error on the channel: catalogue code and detail. The receiver rebuilds the message. */
export const IpcFailure = Type.Object({
  code: Type.String(),
  detail: Type.Record(Type.String(), Type.Unknown()),
});
export type IpcFailure = Static<typeof IpcFailure>;

export const ToWorker = Type.Union([
  /** Questions before the load, one at a time: answered by `measured`, by `format`, or by `question_failed`. */
  Type.Object({ type: Type.Literal('measure'), spec: MeasureSpec }),
  Type.Object({ type: Type.Literal('ask_format'), spec: FormatSpec }),
  Type.Object({ type: Type.Literal('load'), spec: LoadSpec }),
  Type.Object({
    type: Type.Literal('start'),
    job: Job,
    tools: Type.Optional(Type.String()),
    schema: Type.Optional(Type.String()),
  }),
  Type.Object({ type: Type.Literal('cancel'), jobId: Type.String() }),
  /** Writes idle state to the disk before the channel closes; answered by `saved` when all is written. */
  Type.Object({ type: Type.Literal('save') }),
  Type.Object({ type: Type.Literal('ping'), nonce: Type.Integer() }),
  /** Answered by `slots` at once and after each change; false ends it. */
  Type.Object({ type: Type.Literal('watch'), watched: Type.Boolean() }),
]);
export type ToWorker = Static<typeof ToWorker>;

/** Events of one batch step travel together: eight streams cost one message per step, not eight. */
export const FromWorker = Type.Union([
  Type.Object({ type: Type.Literal('booted'), backend: BackendFacts }),
  Type.Object({ type: Type.Literal('boot_failed'), reason: Type.String() }),
  Type.Object({ type: Type.Literal('measured'), measurement: Measurement }),
  Type.Object({ type: Type.Literal('format'), facts: Type.Union([ModelFormatFacts, Type.Null()]) }),
  Type.Object({ type: Type.Literal('question_failed'), failure: IpcFailure }),
  Type.Object({ type: Type.Literal('loading') }),
  Type.Object({ type: Type.Literal('loaded'), facts: LoadedFacts }),
  Type.Object({ type: Type.Literal('load_failed'), failure: IpcFailure }),
  /** Sent after each change of the thread count; a confirmed count is a good start for the next load. */
  Type.Object({
    type: Type.Literal('threads'),
    threads: Type.Integer({ minimum: 1, maximum: MOST_THREADS }),
    confirmed: Type.Boolean(),
  }),
  /** Attention is computed differently from now on: the length of the pause, and the tokens whose state was copied. */
  Type.Object({
    type: Type.Literal('attention'),
    flash: Type.Boolean(),
    ms: Type.Number({ minimum: 0 }),
    tokens: Type.Integer({ minimum: 0 }),
  }),
  Type.Object({
    type: Type.Literal('events'),
    events: Type.Array(Type.Object({ jobId: Type.String(), event: JobEvent })),
  }),
  Type.Object({ type: Type.Literal('saved') }),
  Type.Object({ type: Type.Literal('failed'), jobId: Type.String(), failure: IpcFailure }),
  /** Every few hundred milliseconds while watched, otherwise some time after a change. */
  Type.Object({ type: Type.Literal('slots'), slots: SlotStates }),
  Type.Object({ type: Type.Literal('cache'), tiers: CacheTiers }),
  /** `steps` counts steps of the batch loop, which separates a slow worker from a hanging one. */
  Type.Object({
    type: Type.Literal('pong'),
    nonce: Type.Integer(),
    steps: Type.Optional(Type.Integer({ minimum: 0 })),
  }),
]);
export type FromWorker = Static<typeof FromWorker>;
