/** What a use case knows of the request that it serves, apart from its body. */
export interface Caller {
  /** Names the request in the log; clients may send the same one with several requests. */
  readonly requestId: string;
  /** Fairness is per client: any stable string. */
  readonly clientKey: string;
  /** Fires when the client has gone. */
  readonly signal: AbortSignal;
}
