/** Passes the events of a streamed answer to the job's listener, a few thousand characters at a time. */
import type { JobEvent } from '../../../contract/job-event.ts';
import { ownTurn } from '../../../lib/json/own-turn.ts';
import { isFailure } from '../../../lib/errors/svc-error.ts';
import { parseAnswerInTurns } from '../../../lib/json/parse-json-in-turns.ts';
import type { JobListener } from '../ports.ts';
import type { AnswerReader } from './chat/answer.ts';
import type { EventSink } from './http/event-stream.ts';
import type { Exchange } from './http/exchange.ts';
import { EVENT_JSON, UPSTREAM_LIMITS } from './limits.ts';

export class SentEvents {
  readonly listener: JobListener;
  #events: JobEvent[] = [];
  #isClosed = false;

  constructor(listener: JobListener) {
    this.listener = listener;
  }

  add(event: JobEvent): void {
    this.#events.push(event);
  }

  tell(): void {
    const events = this.#events;
    this.#events = [];
    if (!this.#isClosed) tell(this.listener, events);
  }

  close(): void {
    this.#isClosed = true;
  }
}

export function openSink({ watch }: Exchange, reader: AnswerReader, said: SentEvents): EventSink {
  const readAll = async (pieces: readonly string[]): Promise<void> => {
    await takeInTurns(reader, said, pieces);
    await said.listener.room?.();
  };
  return {
    get isOver() {
      return reader.isOver;
    },
    take: (pieces) => {
      watch.began();
      const chars = pieces.reduce((sum, { length }) => sum + length, 0);
      if (chars <= UPSTREAM_LIMITS.atOnceChars) takeAtOnce(reader, said, pieces);
      const room = chars > UPSTREAM_LIMITS.atOnceChars ? readAll(pieces) : said.listener.room?.();
      if (room !== undefined) watch.hold();
      return room?.then(() => watch.go());
    },
  };
}

function takeAtOnce(reader: AnswerReader, said: SentEvents, pieces: readonly string[]): void {
  try {
    for (const piece of pieces) reader.take(piece);
  } finally {
    said.tell();
  }
}

async function takeInTurns(reader: AnswerReader, said: SentEvents, pieces: readonly string[]): Promise<void> {
  let chars = 0;
  for (const piece of pieces) {
    chars += piece.length;
    if (chars > UPSTREAM_LIMITS.atOnceChars) {
      await ownTurn();
      chars = piece.length;
    }
    const isLong = piece.length > UPSTREAM_LIMITS.atOnceChars;
    const fields = isLong ? await longFields(reader, piece) : undefined;
    try {
      reader.take(piece, fields);
    } finally {
      said.tell();
    }
  }
}

async function longFields(reader: AnswerReader, piece: string): Promise<unknown> {
  try {
    return await parseAnswerInTurns(Buffer.from(piece), EVENT_JSON);
  } catch (error) {
    throw isFailure(error, 'invalid_json') ? reader.unreadable(error.detail.reason) : error;
  }
}

export function tell(listener: JobListener, events: Iterable<JobEvent>): void {
  for (const event of events) listener.onEvent(event);
}
