import { pino } from 'pino';

/** JSON lines on stderr, secrets removed; nothing in Hearth passes prompt or answer text to a logger. */
export function createLogger(level: string) {
  return pino(
    {
      level,
      redact: { paths: ['headers.authorization', 'headers["x-api-key"]', 'apiKey', 'token'], remove: true },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}
