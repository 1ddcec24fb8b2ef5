/**
 * The seam between plain generation and everything that gives an answer a shape (tools, JSON, thinking).
 * `planAnswer` (plan-answer.ts) decides for one job how the prompt is written, what the sampler may choose, and how the tokens are
 * read. The batch loop only knows the two interfaces below.
 */
import type { ToolDefinition, Turn } from '../../contract/job.ts';
import type { NativeGrammar } from '../addon/native.ts';

/** What one job may sample. Its state belongs to one generation. */
export interface Constraint {
  /** Asked before each token; another object than last time re-configures the sampler. Null: free choice. */
  grammar(): NativeGrammar | null;
  /** A token that must come next whatever the sampler says (to end thinking, for instance), or null. */
  forcedToken(): number | null;
  /** Told of every token of the answer, in order, before it is parsed. */
  accept(token: number): void;
}

/** A part of an answer in the engine's words; the batch loop adds usage, stop strings and the ending. */
export type AnswerPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'tool_call'; readonly name: string }
  | { readonly type: 'tool_arguments'; readonly text: string };

/** Reads an answer as it is written. Never sees half a character, nor the token that ends the turn. */
export interface AnswerParser {
  /** Text of ordinary tokens; may be empty while a character is incomplete. */
  text(piece: string): AnswerPart[];
  /** A control token inside the answer, by its text; by default it is silent. */
  control(text: string): AnswerPart[];
  /** The answer is over: releases what was held back. */
  end(): AnswerPart[];
  /** True once nothing more is wanted, such as after the one tool call of a response. */
  readonly complete: boolean;
  readonly calledTool: boolean;
  /** True while tokens become the text of the answer: only these have log probabilities to report. */
  readonly inText: boolean;
  /** True while the model thinks: its tokens count as reasoning tokens. */
  readonly thinking: boolean;
}

export interface AnswerPlan {
  /** The conversation as the template gets it, with whatever instructions the tool format needs. */
  readonly turns: readonly Turn[];
  /** Tools that the template renders itself; empty when they were written into the turns. */
  readonly templateTools: readonly ToolDefinition[];
  /** Further variables of the template, such as `enable_thinking`. */
  readonly templateVariables: Readonly<Record<string, unknown>>;
  /** Text that the answer begins with, appended to the prompt as the template's own words. */
  readonly prefill: string;
  readonly parser: AnswerParser;
  readonly constraint: Constraint | null;
  readonly toolFormat: string;
}
