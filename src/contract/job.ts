/**
 * A job: one unit of work for a worker. No wire type, no HTTP, no model id crosses here. The server builds jobs
 * (api/), the scheduler passes them on, the worker runs them. Schemas are the source of the types, because both ends
 * of the IPC channel check what they receive.
 */
import { type Static, Type } from 'typebox';
import { FrozenPins } from './frozen.ts';
import { PinnedPrefix } from '../lib/prompt-cache/pin.ts';
import { MOST_ALTERNATIVES, MOST_CALLS } from './limits.ts';
import { Sampling } from './sampling-shapes.ts';
import { AdapterScale } from './settings/values.ts';

const NullableInt = Type.Union([Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 }), Type.Null()]);

export const ToolCallTurn = Type.Object({
  id: Type.String(),
  name: Type.String(),
  argumentsJson: Type.String(),
});
export type ToolCallTurn = Static<typeof ToolCallTurn>;

/** Media for engines that accept them; `at` is the offset in the text, in characters. */
export const TurnMedium = Type.Union([
  /** `url`: an address that the engine can fetch, or a data URL. */
  Type.Object({ medium: Type.Literal('image'), url: Type.String(), at: Type.Integer({ minimum: 0 }) }),
  Type.Object({
    medium: Type.Literal('audio'),
    data: Type.String(),
    format: Type.String(),
    at: Type.Integer({ minimum: 0 }),
  }),
]);
export type TurnMedium = Static<typeof TurnMedium>;

/** `content` is well-formed Unicode and is never trusted to contain control tokens. */
export const Turn = Type.Object({
  role: Type.Union([
    Type.Literal('system'),
    Type.Literal('user'),
    Type.Literal('assistant'),
    Type.Literal('tool'),
  ]),
  content: Type.String(),
  reasoning: Type.Optional(Type.String()),
  media: Type.Optional(Type.Array(TurnMedium)),
  toolCalls: Type.Optional(Type.Array(ToolCallTurn)),
  toolCallId: Type.Optional(Type.String()),
  /** On a tool turn: the name of the called tool, recovered from the call id. */
  name: Type.Optional(Type.String()),
});
export type Turn = Static<typeof Turn>;

export const ToolDefinition = Type.Object({
  name: Type.String(),
  description: Type.String(),
  /** JSON Schema of the arguments, already checked to be enforceable. */
  parameters: Type.Record(Type.String(), Type.Unknown()),
});
export type ToolDefinition = Static<typeof ToolDefinition>;

export const ToolChoice = Type.Union([
  Type.Object({ mode: Type.Literal('none') }),
  Type.Object({ mode: Type.Literal('auto') }),
  Type.Object({ mode: Type.Literal('required') }),
  Type.Object({ mode: Type.Literal('named'), name: Type.String() }),
]);
export type ToolChoice = Static<typeof ToolChoice>;

/** `grammar` is GBNF text from the client; only the worker parses it. */
export const AnswerFormat = Type.Union([
  Type.Object({ kind: Type.Literal('text') }),
  Type.Object({ kind: Type.Literal('json_object') }),
  Type.Object({ kind: Type.Literal('json_schema'), schema: Type.Record(Type.String(), Type.Unknown()) }),
  Type.Object({ kind: Type.Literal('grammar'), gbnf: Type.String() }),
]);
export type AnswerFormat = Static<typeof AnswerFormat>;

export const Reasoning = Type.Object({
  /** Absent: the template decides. */
  enabled: Type.Optional(Type.Boolean()),
  effort: Type.Optional(Type.String()),
  budgetTokens: Type.Optional(Type.Integer({ minimum: 0 })),
});
export type Reasoning = Static<typeof Reasoning>;

const TokenIds = Type.Array(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 }));

export const Prompt = Type.Union([
  Type.Object({
    kind: Type.Literal('chat'),
    turns: Type.Array(Turn),
    /** The answer continues the last turn, which is an assistant turn without calls. */
    continues: Type.Optional(Type.Boolean()),
    /** False: omits the template's opening of an answer. */
    opens: Type.Optional(Type.Boolean()),
  }),
  Type.Object({
    kind: Type.Literal('text'),
    text: Type.String(),
    /** True: marks of control tokens in the text become control tokens. */
    readsMarks: Type.Optional(Type.Boolean()),
    /** Text after the answer, for fill-in-the-middle models. */
    suffix: Type.Optional(Type.String()),
    /** Only with `suffix`: context files that are not part of the text. */
    files: Type.Optional(Type.Array(Type.Object({ name: Type.String(), text: Type.String() }))),
  }),
  Type.Object({ kind: Type.Literal('tokens'), tokens: TokenIds }),
  /** Texts and tokens alternate; each text is tokenised alone. */
  Type.Object({
    kind: Type.Literal('mixed'),
    parts: Type.Array(Type.Union([Type.String(), TokenIds])),
    readsMarks: Type.Optional(Type.Boolean()),
  }),
]);
export type Prompt = Static<typeof Prompt>;

export const promptTurns = (prompt: Prompt | undefined): readonly Turn[] =>
  prompt?.kind === 'chat' ? prompt.turns : [];

export const ScoredPrompt = Type.Object({
  top: Type.Integer({ minimum: 0, maximum: MOST_ALTERNATIVES }),
  /** First reported token. State just before it may not come from a cache, which has no logits. */
  from: Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 }),
});
export type ScoredPrompt = Static<typeof ScoredPrompt>;

export const GenerateJob = Type.Object({
  kind: Type.Literal('generate'),
  /** Unique in the lifetime of the server process. */
  jobId: Type.String(),
  prompt: Prompt,
  tools: Type.Array(ToolDefinition),
  toolChoice: ToolChoice,
  /** Limit of tool calls per answer, in formats that allow several; absent: 1. */
  maxCalls: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_CALLS })),
  format: AnswerFormat,
  reasoning: Reasoning,
  sampling: Sampling,
  /** Like `logitBias`, but for the tokens of a text. */
  biasedTexts: Type.Optional(Type.Array(Type.Tuple([Type.String({ minLength: 1 }), Type.Number()]))),
  /** Ignores end tokens; only the limit or a stop string ends the answer. */
  ignoresEnd: Type.Optional(Type.Boolean()),
  /** LoRA adapters of the load to apply, without those of scale 0, in load order. */
  adapters: Type.Array(AdapterScale),
  /** Token limit of the answer; null: until the window is full. 0 evaluates the prompt only. */
  maxTokens: NullableInt,
  /** The client requested no limit; otherwise models that cannot end an answer get one. */
  isUnlimited: Type.Optional(Type.Boolean()),
  /**
   * Limit of prompt plus answer, tokens: the answer is cut to the rest, but to at least one token. Absent: no limit.
   */
  mostTokens: Type.Optional(Type.Integer({ minimum: 1 })),
  /** Window for prompt and answer, tokens; null: the window of the loaded context. */
  numCtx: NullableInt,
  stop: Type.Array(Type.String({ minLength: 1 })),
  /** Reported alternatives per token; null: no log probabilities. */
  topLogprobs: Type.Union([Type.Integer({ minimum: 0, maximum: MOST_ALTERNATIVES }), Type.Null()]),
  scoredPrompt: Type.Optional(ScoredPrompt),
  reportsProgress: Type.Optional(Type.Boolean()),
  /** The client reads the answer only at its end, so its pieces may arrive joined. */
  isWhole: Type.Optional(Type.Boolean()),
  /** Clock of the template, Unix milliseconds; null: now. */
  templateClockMs: Type.Union([Type.Integer(), Type.Null()]),
  /**
   * Trust domain of the prompt: state is shared only within one domain. Absent: the domain of all jobs that name
   * none.
   */
  domain: Type.Optional(Type.String({ maxLength: 64, pattern: '^[A-Za-z0-9_-]*$' })),
  /**
   * `frozen` and `exact` report facts for a record (frozen-v1) and repeat bit for bit: `frozen` alone in its own
   * context, `exact` in a slot of an exact load, alongside others.
   */
  lane: Type.Union([Type.Literal('shared'), Type.Literal('frozen'), Type.Literal('exact')]),
  frozen: Type.Optional(FrozenPins),
});
export type GenerateJob = Static<typeof GenerateJob>;

const TextOrIds = Type.Union([
  Type.String({ minLength: 1 }),
  Type.Array(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 }), { minItems: 1 }),
]);
export type TextOrIds = Static<typeof TextOrIds>;

export const EmbedJob = Type.Object({
  kind: Type.Literal('embed'),
  jobId: Type.String(),
  inputs: Type.Array(TextOrIds),
  /** True: token ids are used unchanged; absent: only if they provably belong to this vocabulary. */
  trustsTokenIds: Type.Optional(Type.Literal(true)),
  /** True: over-long inputs are cut and flagged; false: refused. */
  truncate: Type.Boolean(),
  /** Reports its settings for a record; refused where vectors depend on concurrent work. */
  accounts: Type.Optional(Type.Literal(true)),
});
export type EmbedJob = Static<typeof EmbedJob>;

export const RankJob = Type.Object({
  kind: Type.Literal('rank'),
  jobId: Type.String(),
  query: Type.String({ minLength: 1 }),
  documents: Type.Array(Type.String({ minLength: 1 })),
  /** True: a document too long for the window with its query is cut and flagged; false: refused. */
  truncate: Type.Boolean(),
});
export type RankJob = Static<typeof RankJob>;

export const TokenizeJob = Type.Object({
  kind: Type.Literal('tokenize'),
  jobId: Type.String(),
  text: Type.String(),
  addSpecial: Type.Boolean(),
  /** False: no text becomes a control token. */
  parseSpecial: Type.Boolean(),
  withPieces: Type.Boolean(),
  wantsMarks: Type.Optional(Type.Literal(true)),
});
export type TokenizeJob = Static<typeof TokenizeJob>;

export const DetokenizeJob = Type.Object({
  kind: Type.Literal('detokenize'),
  jobId: Type.String(),
  tokens: TokenIds,
});
export type DetokenizeJob = Static<typeof DetokenizeJob>;

export type VocabularyJob = TokenizeJob | DetokenizeJob;

export const ExplainJob = Type.Object({
  kind: Type.Literal('explain'),
  jobId: Type.String(),
  job: GenerateJob,
  wantsTokens: Type.Optional(Type.Literal(true)),
});
export type ExplainJob = Static<typeof ExplainJob>;

/** Keeps the state of the prefix (system message and tools) of the latest chat of a trust domain. */
export const PinJob = Type.Object({
  kind: Type.Literal('pin'),
  jobId: Type.String(),
  domain: Type.String({ maxLength: 64, pattern: '^[A-Za-z0-9_-]*$' }),
  ends: Type.Optional(PinnedPrefix),
});
export type PinJob = Static<typeof PinJob>;

export const Job = Type.Union([
  GenerateJob,
  EmbedJob,
  RankJob,
  ExplainJob,
  TokenizeJob,
  DetokenizeJob,
  PinJob,
]);
export type Job = Static<typeof Job>;

/** Jobs that evaluate nothing run while every slot is busy. */
export function takesNoSlot(job: Job): job is VocabularyJob | PinJob {
  return isVocabularyJob(job) || job.kind === 'pin';
}

export function isVocabularyJob(job: Job): job is VocabularyJob {
  return job.kind === 'tokenize' || job.kind === 'detokenize';
}
