/**
 * worker/answer owns how answers are constrained and parsed: tools, JSON, thinking, stop strings. This file is the
 * interface: a lane only uses the types below, and plan-answer.ts implements them. It knows nothing of batches, and
 * of the native library only the grammar.
 */
import type { NativeGrammar } from '../native.ts';
import type { AnswerPart } from './calls/body.ts';

export interface Constraint {
  /** Called before each token; a different object re-configures the sampler. Null: free choice. */
  grammar(): NativeGrammar | null;
  /** A token that must come next, whatever the sampler chooses (to end thinking, for instance), or null. */
  forcedToken(): number | null;
  accept(token: number): void;
}

export type { AnswerPart };

/**
 * Parses an answer while it is generated. It receives whole characters only, and never the token that ends the turn.
 */
export interface AnswerParser {
  text(piece: string): AnswerPart[];
  control(text: string): AnswerPart[];
  /** Releases held text, except a begun mark or call if the answer was cut. */
  end(isCut: boolean): AnswerPart[];
  /** Nothing more is wanted, such as after the one tool call of a response. */
  readonly complete: boolean;
  readonly calledTool: boolean;
  /** Tokens become the text of the answer: only these report log probabilities. */
  readonly inText: boolean;
  /** The model thinks: its tokens count as reasoning tokens. */
  readonly thinking: boolean;
}

export interface Answer {
  readonly parser: AnswerParser;
  readonly constraint: Constraint | null;
  /** Texts that end the answer like stop strings, but are not reported to the client. */
  readonly hiddenStops?: readonly string[];
}
