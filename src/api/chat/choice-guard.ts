/**
 * Stands between the engine's events and the wire, one per choice. A tool call leaves only when it is whole: then its
 * id can name its arguments, its arguments are checked against the tool's schema, and a call that the token limit cut
 * is never seen by a client that would run it. A finished answer is checked against the format that was asked for.
 */
import type { GenerateJob } from '../../contract/job.ts';
import type { JobEvent } from '../../contract/job-event.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { type AnswerCheck, answerCheck } from '../intake/answer-check.ts';
import { callId } from '../intake/call-id.ts';

/** A whole call; `pieces` are its arguments as they were written. */
export interface DeliveredCall {
  readonly type: 'call';
  readonly id: string;
  readonly name: string;
  readonly pieces: readonly string[];
}

export type DeliveredEvent = Exclude<JobEvent, { type: 'tool_call' | 'tool_arguments' }> | DeliveredCall;

export class ChoiceGuard {
  readonly #job: GenerateJob;
  readonly #check: AnswerCheck;
  #text = '';
  #call: { readonly name: string; readonly pieces: string[] } | null = null;

  constructor(job: GenerateJob) {
    this.#job = job;
    this.#check = answerCheck(job.format, job.tools);
  }

  /** What may leave now. Throws when the answer is over and is not what was asked for. */
  pass(event: JobEvent): DeliveredEvent[] {
    switch (event.type) {
      case 'tool_call':
        this.#call = { name: event.name, pieces: [] };
        return [];
      case 'tool_arguments':
        this.#call?.pieces.push(event.text);
        return [];
      case 'text':
        if (this.#job.format.kind !== 'text') this.#text += event.text;
        return [event];
      case 'done':
        return event.finishReason === 'length' ? [event] : [...this.#finished(), event];
      default:
        return [event];
    }
  }

  #finished(): DeliveredEvent[] {
    const { toolChoice, prompt } = this.#job;
    if (this.#call !== null) {
      const { name, pieces } = this.#call;
      this.#check.call(name, pieces.join(''));
      const turns = prompt.kind === 'chat' ? prompt.turns : [];
      return [{ type: 'call', id: callId(turns, name, pieces.join('')), name, pieces }];
    }
    if (toolChoice.mode === 'required' || toolChoice.mode === 'named')
      throw fail('answer_invalid', { what: 'The answer', reason: 'it calls no tool' });
    this.#check.text(this.#text);
    return [];
  }
}
