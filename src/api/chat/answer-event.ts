/** What one answer says, in no dialect's words: what leaves of the engine's events once a choice was checked. */
import type { DoneEvent, JobEvent } from '../../contract/job-event.ts';

/** A whole call of a tool, proved against its schema; several come one after the other. */
export interface CallEvent {
  readonly type: 'call';
  /** Its place among the calls of its answer, from 0. */
  readonly index: number;
  readonly id: string;
  readonly name: string;
  /** Its arguments, JSON text, as they were written. */
  readonly pieces: readonly string[];
}

export type AnswerEvent =
  | Extract<JobEvent, { type: 'queued' | 'started' | 'progress' | 'prompt_tokens' | 'text' | 'reasoning' }>
  | CallEvent
  | DoneEvent;
