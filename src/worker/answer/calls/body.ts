/** Shared by the readers of an answer's body. */

/** A part of an answer in the engine's words; the batch loop adds usage, stop strings and the ending. */
export type AnswerPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'tool_call'; readonly name: string }
  | { readonly type: 'tool_arguments'; readonly text: string };

export interface BodyReader {
  /** A call is emitted when it is whole; an answer that ends inside one emits nothing of it. */
  push(text: string): AnswerPart[];
  /** `isCut`: something else than the model ended the answer, so a begun mark is not known to be words, and is left out. */
  end(isCut: boolean): AnswerPart[];
  readonly complete: boolean;
  /** True when a whole call was read: half a call is no call. */
  readonly calledTool: boolean;
  /** False while only structure or a call is parsed. */
  readonly inText: boolean;
  /** Whether a control token here counts as its text, because a grammar or a mark requires that text. */
  takesControl(text: string): boolean;
}
