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
  /** In the vocabulary; absent from engines that do not report it. */
  id: Type.Optional(Type.Integer({ minimum: 0 })),
  /** The text of the token; invalid UTF-8 pieces as U+FFFD. */
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

/** The true finish reason, before any wire dialect. */
export const FinishReason = Type.Union([
  Type.Literal('stop'),
  Type.Literal('length'),
  Type.Literal('tool_calls'),
]);
export type FinishReason = Static<typeof FinishReason>;

export const Usage = Type.Object({
  promptTokens: Type.Integer(),
  /** Prompt tokens that were not evaluated again, because their KV state was reused. */
  cachedTokens: Type.Integer(),
  completionTokens: Type.Integer(),
  /** Completion tokens of thinking. */
  reasoningTokens: Type.Integer(),
});
export type Usage = Static<typeof Usage>;

/** Reason why prompt tokens had to be evaluated although a prompt cache is kept. */
export const CacheMissReason = Type.Union([
  /** No state of this trust domain begins like this prompt. */
  Type.Literal('cold'),
  /** The held state continues differently. */
  Type.Literal('differs'),
  /** It was held and has been evicted. */
  Type.Literal('evicted'),
  /** The held state begins like it, but this model's memory cannot be cut back there. */
  Type.Literal('no_checkpoint'),
  /** A file of the disk tier failed its check. */
  Type.Literal('damaged'),
  /** A copy or restore into the slot would have taken longer than evaluating it. */
  Type.Literal('not_worth'),
  /** The state exists and could not be restored: no room, or the engine refused it. */
  Type.Literal('not_restored'),
]);
export type CacheMissReason = Static<typeof CacheMissReason>;

const NearTokens = Type.Array(Type.Integer({ minimum: 0 }), { maxItems: 32 });

/** Source of the reused prompt tokens, and the reason why not more were reused. */
export const CacheFacts = Type.Object({
  /** Prompt tokens whose state was in a sequence, in host memory, on the disk; together `cachedTokens`. */
  slotTokens: Type.Integer({ minimum: 0 }),
  ramTokens: Type.Integer({ minimum: 0 }),
  diskTokens: Type.Integer({ minimum: 0 }),
  /** From the decision to the state in its sequence, milliseconds; 0 when nothing was restored. */
  restoreMs: Type.Number({ minimum: 0 }),
  /** Absent when all but the last tokens were reused: nothing is left to explain. */
  miss: Type.Optional(
    Type.Object({
      reason: CacheMissReason,
      /** Tokens that the prompt shares with the best candidate from the beginning. */
      commonTokens: Type.Integer({ minimum: 0 }),
      /** Around the first difference, the same number of tokens before it on both sides. */
      wanted: NearTokens,
      held: NearTokens,
      /** Number of tokens of `wanted` and `held` before the first difference. */
      before: Type.Integer({ minimum: 0 }),
    }),
  ),
});
export type CacheFacts = Static<typeof CacheFacts>;

/** Still waiting for a slot or a load. Position 1 is next; `reason` is one plain phrase. */
const QueuedEvent = Type.Object({
  type: Type.Literal('queued'),
  position: Type.Integer(),
  reason: Type.String(),
});

const LOADING = 'loading model ';

/** The reason of a wait that ends when the model is loaded. */
export const loadReason = (modelId: string): string => `${LOADING}${modelId}`;

export const isLoadReason = (reason: string): boolean => reason.startsWith(LOADING);

/**
 * Time that a worker took to prepare a job, milliseconds: its prompt rendered and in tokens, the grammar of its answer
 * compiled.
 */
export const Preparation = Type.Object({
  promptMs: Type.Number({ minimum: 0 }),
  /** 0: the answer has none. */
  grammarMs: Type.Number({ minimum: 0 }),
});
export type Preparation = Static<typeof Preparation>;

/** Changes to the conversation for the template; absent: it was not. */
const Folds = Type.Array(Type.String({ pattern: '^[a-z]+=[a-z]+$' }), { maxItems: 16 });

/** Keywords of tools that the grammar of this model's format leaves to the check of the call. */
const Unheld = Type.Array(
  Type.Object({ tool: Type.String(), pointer: Type.String(), keyword: Type.String() }),
  { maxItems: MOST_UNHELD },
);
export type UnheldKeyword = Static<typeof Unheld>[number];

/** Parts of a long conversation that were left out of the prompt. */
export const Compaction = Type.Object({
  /** Of the prompt. */
  tokensBefore: Type.Integer(),
  tokensAfter: Type.Integer(),
  /** Results of tools, turns with thinking, or turns that a summary stands for, and the tokens that each took. */
  edits: Type.Array(
    Type.Object({
      kind: Type.Union([Type.Literal('results'), Type.Literal('thinking'), Type.Literal('summary')]),
      count: Type.Integer(),
      tokens: Type.Integer(),
    }),
  ),
  /** The engine counts no tokens of prompts, so that these are guesses. */
  isEstimated: Type.Optional(Type.Boolean()),
  /** The conversation as it is now, where a summary stands for a part of it. */
  turns: Type.Optional(Type.Array(Turn)),
  /** Tokens that writing its summary took, if one was written for this answer. */
  summaryUsage: Type.Optional(Usage),
});
export type Compaction = Static<typeof Compaction>;

/** The prompt is rendered, tokenised and fits; sent before prefill; every refusal comes earlier. */
export const StartedEvent = Type.Object({
  type: Type.Literal('started'),
  /** Absent where there was none since the load, and from engines and lanes that keep none. */
  earlier: Type.Optional(EarlierPrompt),
  promptTokens: Type.Integer(),
  cachedTokens: Type.Integer(),
  /** The window in use, tokens; 0: unknown. */
  numCtx: Type.Integer(),
  /** Absent from engines and lanes without a prompt cache. */
  cache: Type.Optional(CacheFacts),
  /** Absent from engines that do not report it. */
  preparation: Type.Optional(Preparation),
  folds: Type.Optional(Folds),
  unheld: Type.Optional(Unheld),
  compaction: Type.Optional(Compaction),
});
export type StartedEvent = Static<typeof StartedEvent>;

/** Progress of prompt evaluation; only of jobs that ask for it. The last one says all of it. */
export const ProgressEvent = Type.Object({
  type: Type.Literal('progress'),
  promptTokens: Type.Integer(),
  cachedTokens: Type.Integer(),
  /** Of the prompt, including reused tokens. */
  evaluatedTokens: Type.Integer(),
  /** Since evaluation began. */
  elapsedMs: Type.Number(),
});
export type ProgressEvent = Static<typeof ProgressEvent>;

/** An answer that failed at one upstream and was continued by another. */
export const Resumed = Type.Object({
  from: Type.String(),
  on: Type.String(),
  /** Failure of the first one. */
  because: Type.String(),
  /** Characters of the answer that the first one wrote. */
  afterCharacters: Type.Integer(),
});
export type Resumed = Static<typeof Resumed>;

/** A token of the prompt, and its probability after those before it. */
export const PromptToken = Type.Object({
  id: Type.Integer({ minimum: 0 }),
  text: Type.String(),
  bytes: Type.Array(Type.Integer({ minimum: 0, maximum: 255 })),
  /** Null: the first token. */
  score: Type.Union([
    Type.Object({
      logprob: Type.Number(),
      /** 1: the most likely token. */
      rank: Type.Integer({ minimum: 1 }),
      /** The likeliest, in order. */
      top: Type.Array(TokenLogprob, { maxItems: MOST_ALTERNATIVES }),
    }),
    Type.Null(),
  ]),
});
export type PromptToken = Static<typeof PromptToken>;

/** The next tokens of a prompt whose job asks for them; they come before the answer. */
export const PromptTokensEvent = Type.Object({
  type: Type.Literal('prompt_tokens'),
  tokens: Type.Array(PromptToken, { maxItems: SCORED_ROWS + 1 }),
});
export type PromptTokensEvent = Static<typeof PromptTokensEvent>;

/** More tokens of a text that was held back leave as several events, which bounds the size of a message. */
export const TOKENS_PER_EVENT = 1_024;

/** Number of joined pieces of the answer in one event; absent: it is one. */
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

/** A tool call begins: its name is known, its arguments follow as pieces of JSON text. */
const ToolCallEvent = Type.Object({ type: Type.Literal('tool_call'), name: Type.String() });
const ToolArgumentsEvent = Type.Object({
  type: Type.Literal('tool_arguments'),
  text: Type.String(),
  pieces: Pieces,
});

const AnswerTimings = Type.Object({
  /** Milliseconds. */
  prefillMs: Type.Number(),
  decodeMs: Type.Number(),
  /** Draft tokens evaluated ahead, and those that the sampler chose as well; absent without drafts. */
  drafts: Type.Optional(Type.Object({ drafted: Type.Integer(), accepted: Type.Integer() })),
});
type AnswerTimings = Static<typeof AnswerTimings>;

/** Treatment of an answer that repeated itself: one token chosen differently, or its end. */
export const Repetition = Type.Union([Type.Literal('nudged'), Type.Literal('ended')]);
export type Repetition = Static<typeof Repetition>;

/**
 * Treatment of the tool calls of an answer: further ones were left out where one is allowed; one that was repeated again
 * and again was refused and the model answered otherwise; it insisted and had to answer without tools.
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
  /** Absent: nothing had to be done. */
  calls: Type.Optional(CallGuard),
  /** As in `started`. */
  compaction: Type.Optional(Compaction),
  /** Absent: nothing had to be done. */
  repetition: Type.Optional(Repetition),
  /** The stop string that ended the answer, where one did. */
  stopString: Type.Optional(Type.String()),
  usage: Usage,
  timings: AnswerTimings,
  resumed: Type.Optional(Resumed),
  /** As in `started`. */
  cache: Type.Optional(CacheFacts),
  /** Facts for a record, in the lanes `frozen` and `exact` only. */
  frozen: Type.Optional(FrozenFacts),
  /** Result of testing claimed tokens, only when the job pinned some. */
  check: Type.Optional(CheckFacts),
});
export type DoneEvent = Static<typeof DoneEvent>;

/** One input's vector; events may come in any order of index. */
export const EmbeddingEvent = Type.Object({
  type: Type.Literal('embedding'),
  index: Type.Integer({ minimum: 0 }),
  /** L2-normalised. */
  vector: Type.Unsafe<Float32Array>({}),
  tokens: Type.Integer(),
  truncated: Type.Boolean(),
  /** Of their ids as little-endian u32; only of jobs that give an account. */
  tokensSha256: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$' })),
});
export type EmbeddingEvent = Static<typeof EmbeddingEvent>;

/** From the first step of the job to its end, milliseconds; absent from engines that do not report it. */
const ComputeMs = Type.Optional(Type.Number({ minimum: 0 }));

const EmbeddedEvent = Type.Object({
  type: Type.Literal('embedded'),
  totalTokens: Type.Integer(),
  computeMs: ComputeMs,
  /** For a record; only of jobs that ask for it. */
  account: Type.Optional(VectorFacts),
});

/** One document's score; events may come in any order of index. */
export const ScoreEvent = Type.Object({
  type: Type.Literal('score'),
  index: Type.Integer({ minimum: 0 }),
  /** As the model gives it: the higher, the better; comparable between documents of one query only. */
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

/** Format in which a model writes, and the source of that knowledge. */
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
  /** Tokens of an answer without a limit; null: the rest of the window. */
  unlimitedTokens: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
});
export type ModelFormatFacts = Static<typeof ModelFormatFacts>;

export const ExplainedEvent = Type.Object({
  type: Type.Literal('explained'),
  renderedPrompt: Type.String(),
  /** Present on request. */
  tokens: Type.Optional(Type.Unsafe<Uint32Array>({})),
  /** As in `started`. */
  earlier: Type.Optional(EarlierPrompt),
  promptTokens: Type.Integer(),
  /** Of the prompt, in a free sequence or in the prompt cache. */
  cachedTokens: Type.Integer(),
  sequence: Type.Union([Type.Integer(), Type.Null()]),
  numCtx: Type.Integer(),
  toolFormat: Type.String(),
  folds: Type.Optional(Folds),
  unheld: Type.Optional(Unheld),
  /** Absent from engines that do not report it, and if a text of the format is too long to be a mark. */
  modelFormat: Type.Optional(ModelFormatFacts),
});
export type ExplainedEvent = Static<typeof ExplainedEvent>;

const TokenizedEvent = Type.Object({
  type: Type.Literal('tokenized'),
  tokens: Type.Unsafe<Uint32Array>({}),
  /** The content of each token: text, or bytes for a part of a character. */
  pieces: Type.Optional(Type.Array(Type.Union([Type.String(), Type.Array(Type.Integer())]))),
  /** As control tokens are spelled; empty: the model has none. */
  marks: Type.Optional(Type.Object({ begin: Type.String(), end: Type.String() })),
});

const DetokenizedEvent = Type.Object({ type: Type.Literal('detokenized'), text: Type.String() });

export const PinnedEvent = Type.Object({
  type: Type.Literal('pinned'),
  pin: PinnedPrefix,
  /** Of its state in memory or on the disk. */
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
