/**
 * worker/batch/planning owns what one step of the batch loop evaluates, how long an idle loop lingers for more
 * requests, and which free sequence a new prompt takes. It is pure: plain data in, plain data out, the clock passed in.
 * It knows nothing of jobs, text, native calls or node-llama-cpp; worker/batch carries the plans out and reports what
 * each native call took.
 */

/** The one interface between the batch loop and whatever decides for it. */
export interface StepPlanner {
  /** Draft tokens per sequence that a plan may ask for; with 0 the loop looks for none. */
  readonly maxDraftTokens: number;
  /** What prefill costs per token, measured or assumed. */
  readonly prefillMsPerToken: number;
  plan(state: StepState): StepPlan;
  /** Feedback after each native call. */
  observe(call: EvaluatedCall): void;
  /** One of the free sequences, for a prompt that continues none of them. */
  chooseSequence(question: SequenceQuestion): number;
  /** How long an idle loop may wait for more requests before it prefills this many tokens. */
  lingerMs(promptTokens: number): number;
}

/** What the planner may know of the context before a step. Every list is in ascending order of sequence. */
export interface StepState {
  readonly nowMs: number;
  readonly decoding: readonly DecodingSequence[];
  readonly prefilling: readonly PrefillingSequence[];
  /** Sequences that nobody uses and whose memory can be cut again after a filler row. */
  readonly idle: readonly IdleSequence[];
}

export interface DecodingSequence {
  readonly sequence: number;
  /** Tokens whose KV state is in the sequence. */
  readonly position: number;
  readonly arrivedMs: number;
  readonly firstTokenMs: number;
  /** Tokens of the answer so far. */
  readonly answerTokens: number;
  /** Draft tokens that prompt lookup has at hand, `maxDraftTokens` at most. */
  readonly draftTokens: number;
  /** The share of recent drafts that the sampler chose as well. */
  readonly draftHitRate: number;
  /** What one drafted token costs before the step, milliseconds; absent where it is looked up. */
  readonly draftMsPerToken?: number;
}

export interface PrefillingSequence {
  readonly sequence: number;
  readonly position: number;
  /** Prompt tokens not yet evaluated. */
  readonly remaining: number;
  readonly arrivedMs: number;
}

export interface IdleSequence {
  readonly sequence: number;
  readonly position: number;
}

/** The rows of one sequence in one native call. */
export interface PlannedRow {
  /** A filler row joins the sequences around an idle one into one pass, and is forgotten at once. */
  readonly kind: 'decode' | 'prefill' | 'filler';
  readonly sequence: number;
  /** Of a prompt; or the sampled token and its drafts; or the one of a filler. */
  readonly tokens: number;
  /** Rows evaluated after the tokens and forgotten at once. */
  readonly padding: number;
}

/** Two native calls, either of which may be empty. The rows of each are in ascending order of sequence. */
export interface StepPlan {
  readonly decode: readonly PlannedRow[];
  readonly prefill: readonly PlannedRow[];
  /** What the decode call will probably take. */
  readonly decodeMs: number;
}

export interface EvaluatedCall {
  readonly phase: 'decode' | 'prefill';
  readonly rows: readonly PlannedRow[];
  readonly ms: number;
}

export interface SequenceQuestion {
  /** At least one. */
  readonly free: readonly FreeSequence[];
  readonly busy: readonly number[];
  /** Prompts that wait for a sequence, this one included. */
  readonly waiting: number;
}

export interface FreeSequence {
  readonly sequence: number;
  readonly cachedTokens: number;
  /** Cached tokens that the prompt begins with. */
  readonly sharedTokens: number;
  /** Step of the loop; larger is more recent. */
  readonly lastUsed: number;
}
