/**
 * What a use case streams to http/sse.ts: a chunk to send, a comment to send while waiting, or the moment from which
 * no refusal can come any more and the head may leave. Prefill has not begun at `started`.
 */
export type StreamItem =
  | { readonly chunk: object }
  | { readonly comment: string }
  | { readonly started: { readonly numCtx: number } };
