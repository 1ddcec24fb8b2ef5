/**
 * worker/answer owns what an answer may be and how its tokens are read: tools, JSON, thinking, stop strings. This file is
 * the seam: a lane only knows the interfaces below, and plan-answer.ts makes what stands behind them. It knows nothing
 * of batches, and of the native library only the grammar.
 */
import type { NativeGrammar } from '../native.ts';
import type { AnswerPart } from './calls/body.ts';

/** Limits of the sampling of one job. Its state belongs to one generation. */
export interface Constraint {
  /** Called before each token; a different object re-configures the sampler. Null: free choice. */
  grammar(): NativeGrammar | null;
  /** A token that must come next, whatever the sampler chooses (to end thinking, for instance), or null. */
  forcedToken(): number | null;
  /** Receives every token of the answer, in order, before it is parsed. */
  accept(token: number): void;
}

export type { AnswerPart };

/** Parses an answer while it is generated. Never sees half a character, nor the token that ends the turn. */
export interface AnswerParser {
  /** Text of ordinary tokens; may be empty while a character is incomplete. */
  text(piece: string): AnswerPart[];
  /** A control token inside the answer, by its text; by default it is silent. */
  control(text: string): AnswerPart[];
  /** The answer is over: releases held text, except a begun mark or call if the answer was cut. */
  end(isCut: boolean): AnswerPart[];
  /** True once nothing more is wanted, such as after the one tool call of a response. */
  readonly complete: boolean;
  readonly calledTool: boolean;
  /** True while tokens become the text of the answer: only these have log probabilities to report. */
  readonly inText: boolean;
  /** True while the model thinks: its tokens count as reasoning tokens. */
  readonly thinking: boolean;
}

/** The state of an answer in progress. Belongs to one run of a job. */
export interface Answer {
  readonly parser: AnswerParser;
  /** Null: free choice. */
  readonly constraint: Constraint | null;
  /** Texts that end it in addition to those of the job, without a report to the client; absent: none. */
  readonly hiddenStops?: readonly string[];
}
