/**
 * wire/operation owns the operator's view and actions: the state of the engine as a stream of events, and its recent
 * requests. It knows no prompt and no answer. Times are Unix milliseconds; an absent member is unknown or false.
 */
import { type Static, type TSchema, Type } from 'typebox';
import { Recording } from './requests.ts';
import { UpstreamView } from './upstream.ts';

const Count = Type.Integer({ minimum: 0 });
const TimeMs = Type.Integer({ description: 'Unix milliseconds.' });
const byName = <S extends TSchema>(schema: S) => Type.Record(Type.String(), schema);

/** A slot without a `job_id` is idle. */
export const SlotView = Type.Object({
  kept_tokens: Type.Integer({ minimum: 0, description: 'Tokens whose KV state it holds.' }),
  job_id: Type.Optional(Type.String()),
  phase: Type.Optional(
    Type.Union([Type.Literal('prefill'), Type.Literal('decode'), Type.Literal('suspended')], {
      description: 'suspended: its KV cells are needed by older answers.',
    }),
  ),
  prompt_tokens: Type.Optional(Count),
  cached_tokens: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Prompt tokens whose state was there when the job began.' }),
  ),
  evaluated_tokens: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Prompt tokens whose state is there now, cached ones included.',
    }),
  ),
  written_tokens: Type.Optional(Count),
  drafted_tokens: Type.Optional(Count),
  accepted_tokens: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Drafted tokens that the sampler chose as well.' }),
  ),
  tokens_per_s: Type.Optional(
    Type.Number({ description: 'Of the present phase, over the last second or so.' }),
  ),
});
export type SlotView = Static<typeof SlotView>;

export const ModelMemoryView = Type.Object({
  planned_bytes: Type.Integer({ description: 'What the load was planned with.' }),
  measured_bytes: Type.Optional(
    Type.Integer({
      description: 'What it takes since it is loaded, with the buffers that no step has touched yet.',
    }),
  ),
  weights_bytes: Type.Optional(Type.Integer()),
  kv_bytes: Type.Optional(Type.Integer({ description: 'KV cache and recurrent states.' })),
  compute_bytes: Type.Optional(Type.Integer({ description: 'Buffers of a step.' })),
});
export type ModelMemoryView = Static<typeof ModelMemoryView>;

const PLACE = 'The upstream or the command that runs it; absent: this service itself.';

const TIER = {
  bytes: Count,
  limit_bytes: Count,
  tokens: Type.Integer({
    minimum: 0,
    description: 'Tokens whose state it holds; where whole states share a beginning, in each of them.',
  }),
  evictions: Type.Integer({ minimum: 0, description: 'States that gave way to others.' }),
  restored_tokens: Type.Integer({ minimum: 0, description: 'Prompt tokens whose state came from here.' }),
};

/** Prompt state outside a model's slots (docs/prompt-cache.md). Counts since the load. */
export const CacheView = Type.Object({
  slot_evictions: Type.Integer({
    minimum: 0,
    description: 'How often what a slot held gave way to another prompt.',
  }),
  ram: Type.Optional(Type.Object(TIER, { description: 'Absent: nothing is kept in memory.' })),
  disk: Type.Optional(
    Type.Object(
      {
        ...TIER,
        others_bytes: Type.Integer({ minimum: 0, description: 'What other models have of the same limit.' }),
      },
      { description: 'Absent: nothing is kept on the disk.' },
    ),
  ),
  restores: Type.Integer({ minimum: 0, description: 'States that were brought back into a slot.' }),
  restore_ms: Type.Integer({ minimum: 0, description: 'How long that took together.' }),
});
export type CacheView = Static<typeof CacheView>;

export const ModelView = Type.Object({
  kind: Type.Union([Type.Literal('chat'), Type.Literal('embedding')]),
  engine: Type.String({ description: 'local, remote or command.' }),
  place: Type.Optional(Type.String({ description: PLACE })),
  state: Type.Union([Type.Literal('loading'), Type.Literal('ready'), Type.Literal('draining')]),
  since_ms: Type.Integer({ description: 'When its load began; once it is loaded, when that was. Unix ms.' }),
  last_used_ms: TimeMs,
  expires_ms: Type.Optional(
    Type.Integer({ description: 'When it will be unloaded if nothing comes. Unix milliseconds.' }),
  ),
  eviction: Type.Optional(
    Type.Object({
      rank: Type.Integer({ minimum: 1, description: '1 is unloaded first when memory is needed.' }),
      reason: Type.String(),
    }),
  ),
  num_ctx: Type.Optional(Type.Integer({ description: 'The window of one request, tokens.' })),
  cells: Type.Optional(Type.Integer({ description: 'KV cells of all slots, tokens.' })),
  threads: Type.Optional(Type.Integer()),
  pid: Type.Optional(Type.Integer()),
  running: Count,
  queued: Count,
  memory: byName(ModelMemoryView),
  cache: Type.Optional(CacheView),
  slots: Type.Record(Type.String(), SlotView, {
    description: 'By number; empty for models whose slots cannot be seen, such as those for embeddings.',
  }),
});
export type ModelView = Static<typeof ModelView>;

export const JobView = Type.Object({
  model: Type.String(),
  kind: Type.String({ description: 'generate, embed, rank, explain, tokenize or detokenize.' }),
  state: Type.Union([Type.Literal('queued'), Type.Literal('running')]),
  client: Type.Optional(Type.String({ description: 'What its client calls itself.' })),
  place: Type.Optional(Type.String({ description: PLACE })),
  frozen: Type.Optional(Type.Literal(true, { description: 'Its answer will be signed (frozen-v1).' })),
  submitted_ms: TimeMs,
  position: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Its place among those that wait for its model; 1 is next.' }),
  ),
  reason: Type.Optional(Type.String({ description: 'Why it waits.' })),
  started_ms: Type.Optional(TimeMs),
  first_text_ms: Type.Optional(TimeMs),
  prompt_tokens: Type.Optional(Count),
  cached_tokens: Type.Optional(Count),
  num_ctx: Type.Optional(Type.Integer()),
});
export type JobView = Static<typeof JobView>;

export const ClientView = Type.Object({
  client: Type.String({ description: 'Empty for those that do not say what they are called.' }),
  queued: Count,
  running: Count,
});
export type ClientView = Static<typeof ClientView>;

export const DeviceView = Type.Object({
  total_bytes: Type.Optional(Type.Integer()),
  free_bytes: Type.Integer({ description: 'What a model could take now.' }),
  reserve_bytes: Type.Integer({ description: 'What no plan touches.' }),
});
export type DeviceView = Static<typeof DeviceView>;

export const GpuView = Type.Object({
  state: Type.Enum(['using', 'lacking', 'fetching', 'trying', 'ready', 'not used'], {
    description:
      'lacking: a GPU could be used, but its library is not installed; fetching and trying: the service does so by itself; ready: it won, and is used from a later load on.',
  }),
  words: Type.String({ description: 'One sentence, with the command that changes it where there is one.' }),
});
export type GpuView = Static<typeof GpuView>;

export const EngineState = Type.Object(
  {
    at_ms: TimeMs,
    boot_id: Type.String(),
    started_ms: TimeMs,
    models: byName(ModelView),
    jobs: Type.Record(Type.String(), JobView, {
      description: 'By job id, which begins with the request id. The first of a long queue; see queued.',
    }),
    queued: Type.Integer({ minimum: 0, description: 'Jobs that wait, listed or not.' }),
    clients: Type.Array(ClientView),
    devices: Type.Record(Type.String(), DeviceView, {
      description: 'CPU is the memory of the machine; every GPU has its own name.',
    }),
    gpu: Type.Optional(GpuView),
    upstreams: Type.Record(Type.String(), UpstreamView, {
      description:
        'By name: those that had a request lately, commands and this service (local) where they are one of several.',
    }),
    last_request: Type.Integer({
      minimum: 0,
      description: 'The number of the last request that was recorded; see /svc/requests.',
    }),
    recording: Recording,
  },
  { $id: 'EngineState' },
);
export type EngineState = Static<typeof EngineState>;

export const ENGINE_EVENTS = {
  /** The whole state: the first event, and again for a reader that is too slow. */
  snapshot: 'snapshot',
  /** A JSON merge patch (RFC 7396) of the previous state. */
  update: 'update',
} as const;
