/** Joins pieces of an answer that the client reads as a whole, so that few messages go to the server. */
import { type JobEvent, TOKENS_PER_EVENT } from '../../../contract/job-event.ts';

type Piece = Extract<JobEvent, { type: 'text' | 'reasoning' | 'tool_arguments' }>;

/**
 * Chosen: a message costs the server half a millisecond; of a cut-off answer, nearly this many pieces are not
 * counted.
 */
const MOST_PIECES = 32;

export class JoinedPieces {
  #held: Piece | null = null;
  #hasSpoken = false;

  /** Returns the events to send now. The first piece is sent at once, because its time is measured. */
  push(event: JobEvent): JobEvent[] {
    if (!isPiece(event) || !this.#hasSpoken) {
      this.#hasSpoken ||= isPiece(event);
      return [...this.flush(), event];
    }
    const joined = this.#held === null ? event : join(this.#held, event);
    const before = joined === null ? this.flush() : [];
    this.#held = joined ?? event;
    return (this.#held.pieces ?? 1) < MOST_PIECES ? before : [...before, ...this.flush()];
  }

  flush(): JobEvent[] {
    const held = this.#held;
    this.#held = null;
    return held === null ? [] : [held];
  }
}

function isPiece(event: JobEvent): event is Piece {
  return event.type === 'text' || event.type === 'reasoning' || event.type === 'tool_arguments';
}

function join(one: Piece, other: Piece): Piece | null {
  if (one.type !== other.type) return null;
  const pieces = (one.pieces ?? 1) + (other.pieces ?? 1);
  const text = one.text + other.text;
  if (one.type !== 'text' || other.type !== 'text') return { type: one.type, text, pieces };
  const tokens = [...(one.tokens ?? []), ...(other.tokens ?? [])];
  if (tokens.length > TOKENS_PER_EVENT) return null;
  return { type: 'text', text, pieces, ...(tokens.length > 0 && { tokens }) };
}
