/**
 * Job features that each dialect supports, and their names there. Requests, the report of ignored fields, and the
 * table of docs/engines.md derive from this.
 */
import type { Job } from '../../../../contract/job.ts';
import { SAMPLING_REACHES, type SamplingReach, type SamplingRow } from '../../../../contract/sampling.ts';
import { SAMPLING_ROWS } from '../../../../contract/sampling-shapes.ts';
import type { IdleOption } from '../../ports.ts';
import type { Dialect } from '../ports.ts';

export interface Abilities {
  readonly sampling: SamplingReach;
  readonly numCtx: boolean;
  readonly grammar: readonly string[] | null;
  /** `switch`: a template variable switches thinking. `plain`: a field. `effort`: only its amount. */
  readonly thinking: 'switch' | 'plain' | 'effort';
  readonly thinkingBudget: string | null;
  readonly pastThinking: boolean;
  /** Continues a partial answer: on request by a field, or always; null: never. */
  readonly begunAnswers: 'asked' | 'always' | null;
  readonly ignoresEnd: boolean;
  readonly biasedTexts: boolean;
  readonly mixedPrompts: boolean;
  /** Accepts a limit of one call; otherwise only the first call is used. */
  readonly parallelCalls: boolean;
  /**
   * Accepts `tool_choice`; otherwise it gets no tools where calls are forbidden, and its answer is checked where one
   * is required.
   */
  readonly toolChoice: boolean;
  /** Silently drops what exceeds its window; the reported prompt then fills the window. */
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

export function samplingName(dialect: Dialect, row: SamplingRow): string | null {
  const { sampling } = ABILITIES[dialect];
  // Another Hearth would apply its own defaults.
  if (row.reach === 'here') return dialect === 'hearth' ? row.wire : null;
  if (SAMPLING_REACHES.indexOf(row.reach) > SAMPLING_REACHES.indexOf(sampling)) return null;
  return sampling === 'servers' ? (row.serversName ?? row.wire) : row.wire;
}

export function idleOptions(dialect: Dialect): ReadonlySet<IdleOption> {
  const { numCtx, thinkingBudget } = ABILITIES[dialect];
  return new Set<IdleOption>([
    ...SAMPLING_ROWS.flatMap(([option, row]) => {
      const isIdle = row.reach !== 'here' && samplingName(dialect, row) === null;
      return isIdle ? [option] : [];
    }),
    ...(numCtx ? [] : (['numCtx'] as const)),
    ...(thinkingBudget === null ? (['thinkingBudget'] as const) : []),
  ]);
}

export type UpstreamJob = Extract<Job, { kind: 'generate' | 'embed' }>;
