/** Limits of the HTTP edge without a setting; those that users set are in config/settings.ts. */
export const HTTP_LIMITS = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  connectionsCheckingIntervalMs: 2_000,
  /** Milliseconds. Longer than clients keep idle connections, so that they never reuse a closing socket. */
  keepAliveTimeoutMs: 75_000,
  maxHeaderBytes: 16 * 1024,
  maxHeaders: 100,
  /** Above this number of sockets, the oldest without a request is closed. */
  maxSockets: 4096,
  /** Milliseconds between comments that keep proxies and clients from timing out. */
  pingEveryMs: 15_000,
  /** Milliseconds after which a reader that takes nothing counts as gone. */
  stalledReaderMs: 30_000,
  /** Milliseconds, and the number of concurrent handshakes; above it the oldest is dropped. */
  handshakeTimeoutMs: 10_000,
  maxHandshakes: 1024,
  closeGraceMs: 1_000,
} as const;

export const KNOWN_TOOLS = { entries: 16, bytes: 4_000_000, leastBytes: 2_000, tokens: 20_000 } as const;
