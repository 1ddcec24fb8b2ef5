/**
 * A job: one unit of work for a worker, in the engine's own words. No wire type, no HTTP, no model id crosses here.
 * The server builds jobs (api/), the scheduler passes them on, the worker runs them.
 * Schemas are the source of the types, because both ends of the IPC channel check what they receive.
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
  /** The arguments as JSON text, as the wire carries them. */
  argumentsJson: Type.String(),
});
export type ToolCallTurn = Static<typeof ToolCallTurn>;

/** Media of a message, for engines that take them; `at` is its place in the text, in characters. */
export const TurnMedium = Type.Union([
  /** `url`: where the engine finds the image, or the image itself as a data URL. */
  Type.Object({ medium: Type.Literal('image'), url: Type.String(), at: Type.Integer({ minimum: 0 }) }),
  /** `data`: base64. */
  Type.Object({
    medium: Type.Literal('audio'),
    data: Type.String(),
    format: Type.String(),
    at: Type.Integer({ minimum: 0 }),
  }),
]);
export type TurnMedium = Static<typeof TurnMedium>;

/** One message of the conversation; `content` is well-formed Unicode and is never trusted to hold control tokens. */
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
  /** On a tool turn: the name of the tool that was called, recovered from the call id. */
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

/** Shape of the answer. `grammar` is GBNF text written by the client, parsed in the worker only. */
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
    /** The answer continues the last turn, one of the assistant without calls. */
    continues: Type.Optional(Type.Boolean()),
    /** False: without the template's opening of an answer. */
    opens: Type.Optional(Type.Boolean()),
  }),
  Type.Object({
    kind: Type.Literal('text'),
    text: Type.String(),
    /** Marks of control tokens in the text count; absent: they are text. */
    readsMarks: Type.Optional(Type.Boolean()),
    /** Text after the answer, for models that fill in between. */
    suffix: Type.Optional(Type.String()),
    /** Only with `suffix`: files that are not part of the text, and that the model may use. */
    files: Type.Optional(Type.Array(Type.Object({ name: Type.String(), text: Type.String() }))),
  }),
  /** Evaluated unchanged. */
  Type.Object({ kind: Type.Literal('tokens'), tokens: TokenIds }),
  /** Texts and tokens in turn; each text is tokenised alone. */
  Type.Object({
    kind: Type.Literal('mixed'),
    parts: Type.Array(Type.Union([Type.String(), TokenIds])),
    readsMarks: Type.Optional(Type.Boolean()),
  }),
]);
export type Prompt = Static<typeof Prompt>;

/** The conversation of a prompt; a text has none. */
export const promptTurns = (prompt: Prompt | undefined): readonly Turn[] =>
  prompt?.kind === 'chat' ? prompt.turns : [];

/** Prompt tokens that are reported with their log probabilities. */
export const ScoredPrompt = Type.Object({
  /** Alternatives per token. */
  top: Type.Integer({ minimum: 0, maximum: MOST_ALTERNATIVES }),
  /** The first one; state of tokens just before it may not come from a cache, which has no logits. */
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
  /** Tool calls of one answer at most, in formats that can hold several; absent: 1. */
  maxCalls: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_CALLS })),
  format: AnswerFormat,
  reasoning: Reasoning,
  sampling: Sampling,
  /** Texts whose tokens get a bias, as `logitBias` gives one to tokens. */
  biasedTexts: Type.Optional(Type.Array(Type.Tuple([Type.String({ minLength: 1 }), Type.Number()]))),
  /** No token ends the answer; only the limit or a stop string does. */
  ignoresEnd: Type.Optional(Type.Boolean()),
  /** LoRA adapters of the load that apply to it, none with scale 0, in the order of the load. */
  adapters: Type.Array(AdapterScale),
  /** Tokens to generate at most; null: until the window is full. 0 evaluates the prompt only. */
  maxTokens: NullableInt,
  /** The client asked for no limit; else models that cannot end an answer have one. */
  isUnlimited: Type.Optional(Type.Boolean()),
  /** Prompt and answer together at most: the answer is cut to what the prompt leaves, one token at least. Absent: no limit. */
  mostTokens: Type.Optional(Type.Integer({ minimum: 1 })),
  /** The window this job may use, prompt and answer together; null: the window of the loaded context. */
  numCtx: NullableInt,
  stop: Type.Array(Type.String({ minLength: 1 })),
  /** Reported alternatives per token; null: none at all. */
  topLogprobs: Type.Union([Type.Integer({ minimum: 0, maximum: MOST_ALTERNATIVES }), Type.Null()]),
  /** Absent: no token of the prompt is reported. */
  scoredPrompt: Type.Optional(ScoredPrompt),
  /** Reports the progress of prompt evaluation. */
  reportsProgress: Type.Optional(Type.Boolean()),
  /** The client reads the answer only at its end: its pieces may arrive joined. */
  isWhole: Type.Optional(Type.Boolean()),
  /** Time of the template's clock, Unix milliseconds; null: the present. */
  templateClockMs: Type.Union([Type.Integer(), Type.Null()]),
  /** Trust domain of the prompt: state is shared within one trust domain only. Absent: that of all who name none. */
  domain: Type.Optional(Type.String({ maxLength: 64, pattern: '^[A-Za-z0-9_-]*$' })),
  /**
   * Two give an account of themselves, for a record (frozen-v1), and repeat bit for bit: `frozen` alone in a context of its
   * own, `exact` in a slot of an exact load, beside others.
   */
  lane: Type.Union([Type.Literal('shared'), Type.Literal('frozen'), Type.Literal('exact')]),
  /** Only in these two: the pins of a replay. */
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
  /** Texts, or token ids of the model's own vocabulary. */
  inputs: Type.Array(TextOrIds),
  /** Token ids are taken unchanged; absent: only if they are shown to be of this vocabulary. */
  trustsTokenIds: Type.Optional(Type.Literal(true)),
  /** True: an over-long input is cut and flagged; false: it is refused. */
  truncate: Type.Boolean(),
  /** Reports its settings for a record, and is refused where vectors depend on other work. */
  accounts: Type.Optional(Type.Literal(true)),
});
export type EmbedJob = Static<typeof EmbedJob>;

/** Scores how well each document answers the query, by a model that ranks pairs. */
export const RankJob = Type.Object({
  kind: Type.Literal('rank'),
  jobId: Type.String(),
  query: Type.String({ minLength: 1 }),
  documents: Type.Array(Type.String({ minLength: 1 })),
  /** True: a document that is too long together with the query is cut and flagged; false: it is refused. */
  truncate: Type.Boolean(),
});
export type RankJob = Static<typeof RankJob>;

/** Text to tokens by the model's own vocabulary; evaluates nothing. */
export const TokenizeJob = Type.Object({
  kind: Type.Literal('tokenize'),
  jobId: Type.String(),
  text: Type.String(),
  /** Adds the tokens that the model expects before and after any input. */
  addSpecial: Type.Boolean(),
  /** False: no text becomes a control token. */
  parseSpecial: Type.Boolean(),
  withPieces: Type.Boolean(),
  /** Reports the marks of the beginning and the end of a text. */
  wantsMarks: Type.Optional(Type.Literal(true)),
});
export type TokenizeJob = Static<typeof TokenizeJob>;

/** Tokens to text. */
export const DetokenizeJob = Type.Object({
  kind: Type.Literal('detokenize'),
  jobId: Type.String(),
  tokens: TokenIds,
});
export type DetokenizeJob = Static<typeof DetokenizeJob>;

/** Needs the vocabulary of a loaded model, and no slot of it. */
export type VocabularyJob = TokenizeJob | DetokenizeJob;

/** Renders and counts, generates nothing: what `?svc_dry_run=1` asks for. */
export const ExplainJob = Type.Object({
  kind: Type.Literal('explain'),
  jobId: Type.String(),
  job: GenerateJob,
  /** Reports the tokens of the prompt. */
  wantsTokens: Type.Optional(Type.Literal(true)),
});
export type ExplainJob = Static<typeof ExplainJob>;

/** Keeps the state of the beginning of the latest chat of a trust domain: the words of the system and the tools. */
export const PinJob = Type.Object({
  kind: Type.Literal('pin'),
  jobId: Type.String(),
  domain: Type.String({ maxLength: 64, pattern: '^[A-Za-z0-9_-]*$' }),
  /** Ends this pin instead of adding one. */
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

/** Jobs that evaluate nothing: they run while every slot is busy. */
export function takesNoSlot(job: Job): job is VocabularyJob | PinJob {
  return isVocabularyJob(job) || job.kind === 'pin';
}

export function isVocabularyJob(job: Job): job is VocabularyJob {
  return job.kind === 'tokenize' || job.kind === 'detokenize';
}
