/**
 * Events of a running job. A job's events end with exactly one of `done`, `embedded`, `ranked`, `explained`,
 * `tokenized`, `detokenized`, `pinned`, or with a failure; nothing follows it. Both the scheduler and the worker produce
 * these.
 */
import { type Static, Type } from 'typebox';
import { CheckFacts, FrozenFacts, VectorFacts } from './frozen.ts';
import { MOST_ALTERNATIVES, MOST_UNHELD, SCORED_ROWS } from './limits.ts';
import { Turn } from './job.ts';
import { EarlierPrompt } from './prompt-difference.ts';
import { PinnedPrefix } from '../lib/prompt-cache/pin.ts';
import { FormatShape } from '../lib/tool-format/format-shape.ts';
import { EVIDENCE_TOPICS, type Evidence } from '../../packages/chat-templates/src/tool-format/tool-format.ts';

export const TokenLogprob = Type.Object({
  id: Type.Optional(Type.Integer({ minimum: 0 })),
  /** Invalid UTF-8 pieces appear as U+FFFD. */
  text: Type.String(),
  bytes: Type.Array(Type.Integer({ minimum: 0, maximum: 255 })),
  logprob: Type.Number(),
});
export type TokenLogprob = Static<typeof TokenLogprob>;

export const SampledToken = Type.Object({
  chosen: TokenLogprob,
  top: Type.Array(TokenLogprob),
});
export type SampledToken = Static<typeof SampledToken>;

export const FinishReason = Type.Union([
  Type.Literal('stop'),
  Type.Literal('length'),
  Type.Literal('tool_calls'),
]);
export type FinishReason = Static<typeof FinishReason>;

export const Usage = Type.Object({
  promptTokens: Type.Integer(),
  cachedTokens: Type.Integer(),
  completionTokens: Type.Integer(),
  reasoningTokens: Type.Integer(),
});
export type Usage = Static<typeof Usage>;

export const CacheMissReason = Type.Union([
  /** No stored state of this trust domain begins like this prompt. */
  Type.Literal('cold'),
  Type.Literal('differs'),
  Type.Literal('evicted'),
  /** Stored state begins like this prompt, but this model's memory cannot be cut back there. */
  Type.Literal('no_checkpoint'),
  Type.Literal('damaged'),
  /** A copy or restore into the slot would have taken longer than prefill. */
  Type.Literal('not_worth'),
  /** The state exists but could not be restored: no room, or the engine refused it. */
  Type.Literal('not_restored'),
]);
export type CacheMissReason = Static<typeof CacheMissReason>;

const NearTokens = Type.Array(Type.Integer({ minimum: 0 }), { maxItems: 32 });

export const CacheFacts = Type.Object({
  /** Prompt tokens restored from a sequence, from host memory and from the disk; the sum is `cachedTokens`. */
  slotTokens: Type.Integer({ minimum: 0 }),
  ramTokens: Type.Integer({ minimum: 0 }),
  diskTokens: Type.Integer({ minimum: 0 }),
  /** Milliseconds from the decision until the state is in its sequence; 0 when nothing was restored. */
  restoreMs: Type.Number({ minimum: 0 }),
  miss: Type.Optional(
    Type.Object({
      reason: CacheMissReason,
      /** Length of the common prefix with the best candidate, tokens. */
      commonTokens: Type.Integer({ minimum: 0 }),
      wanted: NearTokens,
      held: NearTokens,
      /** Tokens of `wanted` and `held` before the first difference. */
      before: Type.Integer({ minimum: 0 }),
    }),
  ),
});
export type CacheFacts = Static<typeof CacheFacts>;

/** Waiting for a slot or a load. Position 1 is next; `reason` is one plain phrase. */
const QueuedEvent = Type.Object({
  type: Type.Literal('queued'),
  position: Type.Integer(),
  reason: Type.String(),
});

const LOADING = 'loading model ';

export const loadReason = (modelId: string): string => `${LOADING}${modelId}`;

export const isLoadReason = (reason: string): boolean => reason.startsWith(LOADING);

/** Milliseconds that the worker spent to render and tokenise the prompt and to compile the answer's grammar. */
export const Preparation = Type.Object({
  promptMs: Type.Number({ minimum: 0 }),
  grammarMs: Type.Number({ minimum: 0 }),
});
export type Preparation = Static<typeof Preparation>;

/** Changes to the conversation that the template required. */
const Folds = Type.Array(Type.String({ pattern: '^[a-z]+=[a-z]+$' }), { maxItems: 16 });

/** Schema keywords of tools that the grammar does not enforce; the check of the call does. */
const Unheld = Type.Array(
  Type.Object({ tool: Type.String(), pointer: Type.String(), keyword: Type.String() }),
  { maxItems: MOST_UNHELD },
);
export type UnheldKeyword = Static<typeof Unheld>[number];

export const Compaction = Type.Object({
  tokensBefore: Type.Integer(),
  tokensAfter: Type.Integer(),
  edits: Type.Array(
    Type.Object({
      kind: Type.Union([Type.Literal('results'), Type.Literal('thinking'), Type.Literal('summary')]),
      count: Type.Integer(),
      tokens: Type.Integer(),
    }),
  ),
  isEstimated: Type.Optional(Type.Boolean()),
  turns: Type.Optional(Type.Array(Turn)),
  summaryUsage: Type.Optional(Usage),
});
export type Compaction = Static<typeof Compaction>;

/** Sent before prefill, when the prompt is rendered, tokenised and fits; every refusal comes earlier. */
export const StartedEvent = Type.Object({
  type: Type.Literal('started'),
  earlier: Type.Optional(EarlierPrompt),
  promptTokens: Type.Integer(),
  cachedTokens: Type.Integer(),
  /** Window in use, tokens; 0 if unknown. */
  numCtx: Type.Integer(),
  cache: Type.Optional(CacheFacts),
  preparation: Type.Optional(Preparation),
  folds: Type.Optional(Folds),
  unheld: Type.Optional(Unheld),
  compaction: Type.Optional(Compaction),
});
export type StartedEvent = Static<typeof StartedEvent>;

/** Only for jobs that request progress. The last one covers the whole prompt. */
export const ProgressEvent = Type.Object({
  type: Type.Literal('progress'),
  promptTokens: Type.Integer(),
  cachedTokens: Type.Integer(),
  /** Includes reused tokens. */
  evaluatedTokens: Type.Integer(),
  elapsedMs: Type.Number(),
});
export type ProgressEvent = Static<typeof ProgressEvent>;

export const Resumed = Type.Object({
  from: Type.String(),
  on: Type.String(),
  because: Type.String(),
  /** Length of the part that the first upstream wrote, characters. */
  afterCharacters: Type.Integer(),
});
export type Resumed = Static<typeof Resumed>;

export const PromptToken = Type.Object({
  id: Type.Integer({ minimum: 0 }),
  text: Type.String(),
  bytes: Type.Array(Type.Integer({ minimum: 0, maximum: 255 })),
  score: Type.Union([
    Type.Object({
      logprob: Type.Number(),
      rank: Type.Integer({ minimum: 1 }),
      top: Type.Array(TokenLogprob, { maxItems: MOST_ALTERNATIVES }),
    }),
    Type.Null(),
  ]),
});
export type PromptToken = Static<typeof PromptToken>;

/** Tokens of a prompt whose job requests scores; sent before the answer. */
export const PromptTokensEvent = Type.Object({
  type: Type.Literal('prompt_tokens'),
  tokens: Type.Array(PromptToken, { maxItems: SCORED_ROWS + 1 }),
});
export type PromptTokensEvent = Static<typeof PromptTokensEvent>;

/** Longer runs of tokens are split into several events, which bounds the size of a message. */
export const TOKENS_PER_EVENT = 1_024;

const Pieces = Type.Optional(Type.Integer({ minimum: 1 }));

export const TextEvent = Type.Object({
  type: Type.Literal('text'),
  text: Type.String(),
  pieces: Pieces,
  tokens: Type.Optional(Type.Array(SampledToken, { maxItems: TOKENS_PER_EVENT })),
});
export type TextEvent = Static<typeof TextEvent>;

const ReasoningEvent = Type.Object({
  type: Type.Literal('reasoning'),
  text: Type.String(),
  pieces: Pieces,
});

const ToolCallEvent = Type.Object({ type: Type.Literal('tool_call'), name: Type.String() });
const ToolArgumentsEvent = Type.Object({
  type: Type.Literal('tool_arguments'),
  text: Type.String(),
  pieces: Pieces,
});

const AnswerTimings = Type.Object({
  prefillMs: Type.Number(),
  decodeMs: Type.Number(),
  /** `accepted`: draft tokens that the sampler also chose. Absent without drafts. */
  drafts: Type.Optional(Type.Object({ drafted: Type.Integer(), accepted: Type.Integer() })),
});
type AnswerTimings = Static<typeof AnswerTimings>;

/** Reaction to an answer that repeats itself: one token chosen differently, or the end of the answer. */
export const Repetition = Type.Union([Type.Literal('nudged'), Type.Literal('ended')]);
export type Repetition = Static<typeof Repetition>;

/**
 * Interventions in tool calls: further calls dropped where only one is allowed; a repeated call refused, after which
 * the model answered differently; or an answer without tools because the model insisted.
 */
export const CallGuard = Type.Union([
  Type.Literal('dropped'),
  Type.Literal('refused'),
  Type.Literal('ended'),
]);
export type CallGuard = Static<typeof CallGuard>;

export const DoneEvent = Type.Object({
  type: Type.Literal('done'),
  finishReason: FinishReason,
  calls: Type.Optional(CallGuard),
  compaction: Type.Optional(Compaction),
  repetition: Type.Optional(Repetition),
  stopString: Type.Optional(Type.String()),
  usage: Usage,
  timings: AnswerTimings,
  resumed: Type.Optional(Resumed),
  cache: Type.Optional(CacheFacts),
  /** Only in the lanes `frozen` and `exact`. */
  frozen: Type.Optional(FrozenFacts),
  check: Type.Optional(CheckFacts),
});
export type DoneEvent = Static<typeof DoneEvent>;

/** One vector; events may arrive in any order of index. */
export const EmbeddingEvent = Type.Object({
  type: Type.Literal('embedding'),
  index: Type.Integer({ minimum: 0 }),
  /** L2-normalised. */
  vector: Type.Unsafe<Float32Array>({}),
  tokens: Type.Integer(),
  truncated: Type.Boolean(),
  /** Hash of the token ids as little-endian u32; only for jobs with `accounts`. */
  tokensSha256: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$' })),
});
export type EmbeddingEvent = Static<typeof EmbeddingEvent>;

/** Milliseconds from the first step of the job to its end; absent from engines that do not report it. */
const ComputeMs = Type.Optional(Type.Number({ minimum: 0 }));

const EmbeddedEvent = Type.Object({
  type: Type.Literal('embedded'),
  totalTokens: Type.Integer(),
  computeMs: ComputeMs,
  account: Type.Optional(VectorFacts),
});

/** One document's score; events may arrive in any order of index. */
export const ScoreEvent = Type.Object({
  type: Type.Literal('score'),
  index: Type.Integer({ minimum: 0 }),
  /** Raw score of the model: higher is better, comparable only between documents of one query. */
  score: Type.Number(),
  tokens: Type.Integer(),
  truncated: Type.Boolean(),
});
export type ScoreEvent = Static<typeof ScoreEvent>;

const RankedEvent = Type.Object({
  type: Type.Literal('ranked'),
  totalTokens: Type.Integer(),
  computeMs: ComputeMs,
});

export const ModelFormatFacts = Type.Object({
  template: Type.Union([Type.Literal('own'), Type.Literal('none')]),
  format: FormatShape,
  evidence: Type.Array(
    Type.Object({
      about: Type.Unsafe<Evidence['about']>({ type: 'string', enum: EVIDENCE_TOPICS }),
      says: Type.String(),
      probe: Type.Union([Type.String(), Type.Null()]),
    }),
    { maxItems: 16 },
  ),
  /** Token limit of an answer whose request sets none; null: the rest of the window. */
  unlimitedTokens: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
});
export type ModelFormatFacts = Static<typeof ModelFormatFacts>;

export const ExplainedEvent = Type.Object({
  type: Type.Literal('explained'),
  renderedPrompt: Type.String(),
  tokens: Type.Optional(Type.Unsafe<Uint32Array>({})),
  earlier: Type.Optional(EarlierPrompt),
  promptTokens: Type.Integer(),
  cachedTokens: Type.Integer(),
  sequence: Type.Union([Type.Integer(), Type.Null()]),
  numCtx: Type.Integer(),
  toolFormat: Type.String(),
  folds: Type.Optional(Folds),
  unheld: Type.Optional(Unheld),
  /** Absent if unknown, or if a text of the format is too long to be a mark. */
  modelFormat: Type.Optional(ModelFormatFacts),
});
export type ExplainedEvent = Static<typeof ExplainedEvent>;

const TokenizedEvent = Type.Object({
  type: Type.Literal('tokenized'),
  tokens: Type.Unsafe<Uint32Array>({}),
  /** One entry per token: text, or bytes for a partial character. */
  pieces: Type.Optional(Type.Array(Type.Union([Type.String(), Type.Array(Type.Integer())]))),
  /** Spelling of the control tokens; empty if the model has none. */
  marks: Type.Optional(Type.Object({ begin: Type.String(), end: Type.String() })),
});

const DetokenizedEvent = Type.Object({ type: Type.Literal('detokenized'), text: Type.String() });

export const PinnedEvent = Type.Object({
  type: Type.Literal('pinned'),
  pin: PinnedPrefix,
  /** Size of the pinned state in memory or on the disk. */
  heldBytes: Type.Integer({ minimum: 0 }),
});
export type PinnedEvent = Static<typeof PinnedEvent>;

export const JobEvent = Type.Union([
  QueuedEvent,
  StartedEvent,
  ProgressEvent,
  PromptTokensEvent,
  TextEvent,
  ReasoningEvent,
  ToolCallEvent,
  ToolArgumentsEvent,
  DoneEvent,
  EmbeddingEvent,
  EmbeddedEvent,
  ScoreEvent,
  RankedEvent,
  ExplainedEvent,
  TokenizedEvent,
  DetokenizedEvent,
  PinnedEvent,
]);
export type JobEvent = Static<typeof JobEvent>;

/** Nothing of the job follows these. */
export const FINAL_EVENTS: ReadonlySet<JobEvent['type']> = new Set([
  'done',
  'embedded',
  'ranked',
  'explained',
  'tokenized',
  'detokenized',
  'pinned',
]);
