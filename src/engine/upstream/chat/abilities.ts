/**
 * Parts of a job that each dialect takes, and their names there. The requests, the fields that are reported as without
 * effect, and the table of docs/engines.md derive from this.
 */
import type { Job } from '../../../contract/job.ts';
import { SAMPLING_REACHES, type SamplingReach, type SamplingRow } from '../../../contract/sampling.ts';
import { SAMPLING_ROWS } from '../../../contract/sampling-shapes.ts';
import type { IdleOption } from '../../ports.ts';
import type { Dialect } from '../ports.ts';

export interface Abilities {
  /** The sampling options that it knows. */
  readonly sampling: SamplingReach;
  /** The window can be asked for. */
  readonly numCtx: boolean;
  /** The member that takes a GBNF grammar, as a path; null: it has none. */
  readonly grammar: readonly string[] | null;
  /** `switch`: thinking is switched by a variable of the template. `plain`: by a field. `effort`: only its amount. */
  readonly thinking: 'switch' | 'plain' | 'effort';
  /** The field that bounds thinking, in tokens. */
  readonly thinkingBudget: string | null;
  /** Earlier thinking is taken with the turns that it belongs to. */
  readonly pastThinking: boolean;
  /** Continues answers that a client has begun: by a field, or always; null: never. */
  readonly begunAnswers: 'asked' | 'always' | null;
  /** Takes `ignore_eos`. */
  readonly ignoresEnd: boolean;
  /** Biases name tokens by their text, too. */
  readonly biasedTexts: boolean;
  /** A prompt may be texts and tokens in turn. */
  readonly mixedPrompts: boolean;
  /** Accepts a limit of one call; else only the first call is used. */
  readonly parallelCalls: boolean;
  /** Takes `tool_choice`; else it gets no tools where none may be called, and its answer is checked where one must be. */
  readonly toolChoice: boolean;
  /** Leaves out what does not fit its window without saying so; then the prompt that it counts fills the window. */
  readonly cutsPrompts: boolean;
}

export const ABILITIES: Readonly<Record<Dialect, Abilities>> = {
  openai: {
    sampling: 'openai',
    numCtx: false,
    grammar: null,
    thinking: 'effort',
    thinkingBudget: null,
    pastThinking: false,
    begunAnswers: null,
    ignoresEnd: false,
    biasedTexts: false,
    mixedPrompts: false,
    parallelCalls: true,
    toolChoice: true,
    cutsPrompts: false,
  },
  vllm: {
    sampling: 'servers',
    numCtx: false,
    grammar: ['structured_outputs', 'grammar'],
    thinking: 'switch',
    thinkingBudget: 'thinking_token_budget',
    pastThinking: true,
    begunAnswers: 'asked',
    ignoresEnd: true,
    biasedTexts: false,
    mixedPrompts: false,
    parallelCalls: true,
    toolChoice: true,
    cutsPrompts: false,
  },
  'llama-server': {
    sampling: 'llama.cpp',
    numCtx: false,
    grammar: ['grammar'],
    thinking: 'switch',
    thinkingBudget: 'reasoning_budget_tokens',
    pastThinking: true,
    begunAnswers: 'always',
    ignoresEnd: true,
    biasedTexts: true,
    mixedPrompts: true,
    parallelCalls: true,
    toolChoice: true,
    cutsPrompts: false,
  },
  sglang: {
    sampling: 'servers',
    numCtx: false,
    grammar: ['ebnf'],
    thinking: 'switch',
    thinkingBudget: null,
    pastThinking: true,
    begunAnswers: 'asked',
    ignoresEnd: true,
    biasedTexts: false,
    mixedPrompts: false,
    parallelCalls: true,
    toolChoice: true,
    cutsPrompts: false,
  },
  ollama: {
    sampling: 'plain',
    numCtx: false,
    grammar: null,
    thinking: 'effort',
    thinkingBudget: null,
    pastThinking: false,
    begunAnswers: null,
    ignoresEnd: false,
    biasedTexts: false,
    mixedPrompts: false,
    parallelCalls: false,
    toolChoice: false,
    cutsPrompts: true,
  },
  hearth: {
    sampling: 'llama.cpp',
    numCtx: true,
    grammar: ['grammar'],
    thinking: 'plain',
    thinkingBudget: 'reasoning_budget',
    pastThinking: true,
    begunAnswers: 'asked',
    ignoresEnd: true,
    biasedTexts: true,
    mixedPrompts: true,
    parallelCalls: true,
    toolChoice: true,
    cutsPrompts: false,
  },
};

/** Name of a sampling option in a dialect; null: unknown there. */
export function samplingName(dialect: Dialect, row: SamplingRow): string | null {
  const { sampling } = ABILITIES[dialect];
  // Another Hearth would apply its own defaults.
  if (row.elsewhere === 'here') return dialect === 'hearth' ? row.wire : null;
  if (SAMPLING_REACHES.indexOf(row.elsewhere) > SAMPLING_REACHES.indexOf(sampling)) return null;
  return sampling === 'servers' ? (row.serversName ?? row.wire) : row.wire;
}

/** Options of a request that have no effect in a dialect. */
export function idleOptions(dialect: Dialect): ReadonlySet<IdleOption> {
  const { numCtx, thinkingBudget } = ABILITIES[dialect];
  return new Set<IdleOption>([
    ...SAMPLING_ROWS.flatMap(([option, row]) => {
      const isIdle = row.elsewhere !== 'here' && samplingName(dialect, row) === null;
      return isIdle ? [option] : [];
    }),
    ...(numCtx ? [] : (['numCtx'] as const)),
    ...(thinkingBudget === null ? (['thinkingBudget'] as const) : []),
  ]);
}

/** The kinds of job that an upstream runs. */
export type UpstreamJob = Extract<Job, { kind: 'generate' | 'embed' }>;
