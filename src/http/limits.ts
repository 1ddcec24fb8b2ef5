/** Limits of the HTTP edge that need no setting; those that people set are in config/settings.ts. */
export const HTTP_LIMITS = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  connectionsCheckingIntervalMs: 2_000,
  /** Longer than clients keep idle connections, so no reused socket meets a close. */
  keepAliveTimeoutMs: 75_000,
  maxHeaderBytes: 16 * 1024,
  maxHeaders: 100,
  /** Above this many sockets, the oldest that has not yet sent a request gives way. */
  maxSockets: 4096,
  /** A comment line keeps proxies and clients from giving up on a silent stream. */
  pingEveryMs: 15_000,
  /** A reader that takes nothing for this long is treated as gone. */
  stalledReaderMs: 30_000,
  /** Time for a TLS handshake, and the number of concurrent ones; above it the oldest is dropped. */
  handshakeTimeoutMs: 10_000,
  maxHandshakes: 1024,
  /** Time for the last bytes of answers when the service ends. */
  closeGraceMs: 1_000,
} as const;

/** Tools of requests that are remembered as they were read, for the next request of the same agent. */
export const KNOWN_TOOLS = { entries: 16, bytes: 4_000_000, leastBytes: 2_000, tokens: 20_000 } as const;
