/**
 * One guard per choice between the checked events of jobs and the dialects. It sends a tool call only when it is
 * complete, because its id is a hash of its arguments. The earlier check has dropped calls that the token limit cut.
 */
import { type GenerateJob, promptTurns } from '../../../contract/job.ts';
import type { DoneEvent, JobEvent } from '../../../contract/job-event.ts';
import { callId } from '../intake/call-id.ts';
import { fail, type SvcError } from '../../../lib/errors/svc-error.ts';
import { isRepeatable } from '../generation/choices.ts';

export function checker(jobs: readonly GenerateJob[]): (index: number, event: JobEvent) => AnswerEvent[] {
  const guards = jobs.map((job) => new ChoiceGuard(job));
  return (index, event) => guards[index]?.pass(event) ?? [];
}

class ChoiceGuard {
  readonly #job: GenerateJob;
  #open: { readonly name: string; readonly pieces: string[] } | null = null;
  #calls = 0;

  constructor(job: GenerateJob) {
    this.#job = job;
  }

  pass(event: JobEvent): AnswerEvent[] {
    switch (event.type) {
      case 'queued':
      case 'started':
      case 'progress':
      case 'prompt_tokens':
        return [event];
      case 'tool_call': {
        const before = this.#closed();
        this.#open = { name: event.name, pieces: [] };
        return before;
      }
      case 'tool_arguments':
        this.#open?.pieces.push(event.text);
        return [];
      case 'text':
      case 'reasoning':
        return [...this.#closed(), event];
      case 'done':
        return [...this.#closed(), this.#wanted(event)];
      case 'embedding':
      case 'embedded':
      case 'score':
      case 'ranked':
      case 'explained':
      case 'tokenized':
      case 'detokenized':
      case 'pinned':
        throw new Error(`a chat job produced the event ${event.type}`);
    }
  }

  #wanted(event: DoneEvent): DoneEvent {
    const { mode } = this.#job.toolChoice;
    const wanted = mode === 'required' || mode === 'named';
    if (wanted && this.#calls === 0 && event.finishReason !== 'length')
      throw answerInvalid(this.#job, { what: 'The answer', reason: 'it calls no tool' });
    return event;
  }

  #closed(): CallEvent[] {
    if (this.#open === null) return [];
    const { name, pieces } = this.#open;
    const text = pieces.join('');
    const turns = promptTurns(this.#job.prompt);
    const index = this.#calls;
    this.#open = null;
    this.#calls += 1;
    return [{ type: 'call', index, id: callId(turns, { name, argumentsJson: text, index }), name, pieces }];
  }
}

export function answerInvalid(
  job: GenerateJob,
  invalid: { readonly what: string; readonly reason: string },
): SvcError {
  return fail('answer_invalid', { ...invalid, repeats: isRepeatable(job) });
}

export interface CallEvent {
  readonly type: 'call';
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly pieces: readonly string[];
}

export type AnswerEvent =
  | Extract<JobEvent, { type: 'queued' | 'started' | 'progress' | 'prompt_tokens' | 'text' | 'reasoning' }>
  | CallEvent
  | DoneEvent;
