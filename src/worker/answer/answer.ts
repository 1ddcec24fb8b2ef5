/**
 * worker/answer owns what an answer may be and how its tokens are read: tools, JSON, thinking, stop strings. This file is
 * the seam: a lane only knows the interfaces below, and plan-answer.ts makes what stands behind them. It knows nothing
 * of batches, and of the native library only the grammar.
 */
import type { NativeGrammar } from '../native.ts';
import type { AnswerPart } from './calls/body.ts';

/** What one job may sample. Its state belongs to one generation. */
export interface Constraint {
  /** Asked before each token; another object than last time re-configures the sampler. Null: free choice. */
  grammar(): NativeGrammar | null;
  /** A token that must come next whatever the sampler says (to end thinking, for instance), or null. */
  forcedToken(): number | null;
  /** Told of every token of the answer, in order, before it is parsed. */
  accept(token: number): void;
}

export type { AnswerPart };

/** Reads an answer as it is written. Never sees half a character, nor the token that ends the turn. */
export interface AnswerParser {
  /** Text of ordinary tokens; may be empty while a character is incomplete. */
  text(piece: string): AnswerPart[];
  /** A control token inside the answer, by its text; by default it is silent. */
  control(text: string): AnswerPart[];
  /** The answer is over: releases what was held back, except a begun mark or call where the answer was cut. */
  end(isCut: boolean): AnswerPart[];
  /** True once nothing more is wanted, such as after the one tool call of a response. */
  readonly complete: boolean;
  readonly calledTool: boolean;
  /** True while tokens become the text of the answer: only these have log probabilities to report. */
  readonly inText: boolean;
  /** True while the model thinks: its tokens count as reasoning tokens. */
  readonly thinking: boolean;
}

/** An answer as it comes into being. Belongs to one run of a job. */
export interface Answer {
  readonly parser: AnswerParser;
  /** Null: free choice. */
  readonly constraint: Constraint | null;
  /** Texts that end it beside those of the job, and that the client is not told of; absent: none. */
  readonly hiddenStops?: readonly string[];
}
