export type AnswerPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'tool_call'; readonly name: string }
  | { readonly type: 'tool_arguments'; readonly text: string };

export interface BodyReader {
  /** Emits whole calls only: an answer that ends inside a call emits nothing of it. */
  push(text: string): AnswerPart[];
  /** `isCut`: the model did not end the answer itself, so a begun mark may not be text, and is dropped. */
  end(isCut: boolean): AnswerPart[];
  readonly complete: boolean;
  readonly calledTool: boolean;
  readonly inText: boolean;
  takesControl(text: string): boolean;
}
