/**
 * The stage that checks the answers of chat. A tool call must be complete and its arguments valid for the tool's
 * schema; an answer must match the requested format. A grammar has shaped both where it can; this check validates
 * them independently, in another thread and with another implementation. A failed call is repaired once: the model
 * gets the problem and the remaining tokens. If no tokens are left, the limit has cut the call. A call that returned
 * the same result too often is refused: the model gets that reason and continues, in the end without tools.
 */
import type { DoneEvent, FinishReason, JobEvent, Usage } from '../../../contract/job-event.ts';
import { type GenerateJob, type Turn, promptTurns } from '../../../contract/job.ts';
import { collectEvents } from '../../engine/collect.ts';
import type { AnswerChecks, JobListener } from '../../engine/ports.ts';
import type { EngineStage } from '../../engine/stages.ts';
import { asError, isFailure } from '../../../lib/errors/svc-error.ts';
import { schemaValidator } from '../intake/schema-validator.ts';
import { answerInvalid } from './choice-guard.ts';
import { CallHistory, callLimit } from './call-guard.ts';
import { addedUsage, isRepairable, otherwiseJob, repairJob, tokensLeft } from './call-repair.ts';

interface Asked {
  readonly job: GenerateJob;
  readonly checks: AnswerChecks | undefined;
  readonly history: CallHistory;
  readonly refusals: number;
}

function asking(
  job: GenerateJob,
  checks?: AnswerChecks,
  turns: readonly Turn[] = promptTurns(job.prompt),
): Asked {
  return { job, checks, history: new CallHistory({ turns, limit: callLimit(job) }), refusals: 0 };
}

export const answerChecks: EngineStage = {
  take(submission, signal, listener, next) {
    const { job, check, sentTurns } = submission;
    if (check === undefined || job.kind !== 'generate' || !isChecked(job))
      return next(submission, signal, listener);
    const again = (repair: GenerateJob, onRepair: JobListener): void =>
      next({ ...submission, job: repair }, signal, onRepair);
    next(submission, signal, new CheckedJob(asking(job, check, sentTurns), listener, again));
  },
};

export function checkedEvents(job: GenerateJob, events: readonly JobEvent[]): Promise<JobEvent[]> {
  return collectEvents((listener) => {
    const checked = isChecked(job)
      ? new CheckedJob(asking(job), listener, () => listener.onEnd(answerInvalid(job, NO_CALL)))
      : listener;
    for (const event of events) checked.onEvent(event);
    checked.onEnd(null);
  });
}

/** Replayed answers are never repaired. */
const NO_CALL = { what: 'The answer', reason: 'its call is not valid' };

function isChecked({ tools, format }: GenerateJob): boolean {
  return tools.length > 0 || format.kind === 'json_schema' || format.kind === 'json_object';
}

interface WrittenCall {
  readonly name: string;
  readonly events: JobEvent[];
  text: string;
}

interface FailedCheck {
  readonly call: WrittenCall;
  readonly problem: string;
}

/** Token limit of a repeated call. */
const WHOLE_CALL_TOKENS = 8_192;
const LEAST_ROOM = 32;

const BEFORE_ANSWER: ReadonlySet<JobEvent['type']> = new Set([
  'queued',
  'started',
  'progress',
  'prompt_tokens',
]);

class CheckedJob implements JobListener {
  readonly #asked: Asked;
  readonly #listener: JobListener;
  readonly #again: (repair: GenerateJob, listener: JobListener) => void;
  #text = '';
  #passedCalls = 0;
  #numCtx = 0;
  #refused: { readonly call: WrittenCall; readonly times: number } | null = null;
  #call: WrittenCall | null = null;
  #failed: FailedCheck | null = null;
  #hopeless: Error | null = null;
  /** Pending work on earlier events; null: the next event may pass immediately. */
  #busy: Promise<void> | null = null;
  #isOver = false;

  constructor(
    asked: Asked,
    listener: JobListener,
    again: (repair: GenerateJob, listener: JobListener) => void,
  ) {
    this.#asked = asked;
    this.#listener = listener;
    this.#again = again;
  }

  onEvent(event: JobEvent): void {
    this.#then(() => this.#take(event));
  }

  onEnd(failure: Error | null): void {
    if (failure !== null) return this.#end(failure);
    this.#then(() => this.#end(null));
  }

  room(): Promise<void> | undefined {
    return this.#listener.room?.();
  }

  #then(act: () => Promise<void> | void): void {
    if (this.#busy === null) {
      const done = act();
      if (done !== undefined) this.#wait(done);
      return;
    }
    this.#wait(this.#busy.then(() => (this.#isOver ? undefined : act())));
  }

  #wait(work: Promise<void>): void {
    const settled: Promise<void> = work
      .catch((error: unknown) => this.#end(asError(error)))
      .then(() => {
        if (this.#busy === settled) this.#busy = null;
      });
    this.#busy = settled;
  }

  #take(event: JobEvent): Promise<void> | void {
    switch (event.type) {
      case 'tool_call': {
        const before = this.#closed();
        this.#call = { name: event.name, events: [event], text: '' };
        return before;
      }
      case 'tool_arguments':
        this.#call?.events.push(event);
        if (this.#call !== null) this.#call.text += event.text;
        return;
      case 'done':
        return this.#done(event);
      case 'started':
        this.#numCtx = event.numCtx;
        return this.#after(event);
      case 'text':
        this.#text += event.text;
        return this.#after(event);
      default:
        return this.#after(event);
    }
  }

  #after(event: JobEvent): Promise<void> | void {
    if (this.#call === null) return this.#pass(event);
    return this.#closed()?.then(() => this.#pass(event));
  }

  #closed(): Promise<void> | void {
    const call = this.#call;
    this.#call = null;
    if (call === null) return;
    return this.#checkCall(call).then((problem) => {
      if (problem === null && this.#failed === null) this.#allow(call);
      else if (problem !== null && this.#failed !== null) this.#hopeless ??= this.#notValid(call, problem);
      else if (problem !== null) this.#failed = { call, problem };
      else this.#failed?.call.events.push(...call.events);
    });
  }

  #allow(call: WrittenCall): void {
    const { history } = this.#asked;
    const times = history.refusedAfter({ name: call.name, argumentsJson: call.text });
    if (times > 0) {
      this.#refused ??= { call, times };
      return;
    }
    this.#passedCalls += 1;
    for (const event of call.events) this.#pass(event);
  }

  async #checkCall({ name, text }: WrittenCall): Promise<string | null> {
    const tool = this.#asked.job.tools.find((candidate) => candidate.name === name);
    if (tool === undefined) return 'there is no such tool';
    return this.#problemIn(tool.parameters, text);
  }

  async #problemIn(schema: Readonly<Record<string, unknown>>, text: string): Promise<string | null> {
    const begunMs = performance.now();
    const problem = await schemaValidator.findProblem(schema, text);
    this.#asked.checks?.onCheck?.(performance.now() - begunMs);
    return problem;
  }

  async #done(event: DoneEvent): Promise<void> {
    const called = this.#call !== null || this.#failed !== null;
    await this.#closed();
    // The limit has cut the open call, so it is never sent.
    if (this.#failed !== null && event.finishReason === 'length') return this.#complete(event, this.#failed);
    if (this.#hopeless !== null) throw this.#hopeless;
    if (this.#failed !== null) return this.#repair(event, this.#failed);
    if (this.#refused !== null) return this.#refuse(event, this.#refused);
    if (!called && event.finishReason === 'stop') await this.#requireShape();
    this.#pass(event);
  }

  #refuse(
    event: DoneEvent,
    { call, times }: { readonly call: WrittenCall; readonly times: number },
  ): Promise<void> | void {
    const { job, refusals } = this.#asked;
    if (this.#passedCalls > 0) return this.#pass({ ...event, calls: 'dropped' });
    const end = (finishReason: FinishReason): void => this.#pass({ ...event, finishReason, calls: 'ended' });
    if (!isRepairable(job) || job.toolChoice.mode === 'none') return end('stop');
    if (event.finishReason === 'length' || tokensLeft(job, event.usage) === 0) return end('length');
    const mustCall = job.toolChoice.mode === 'required';
    const mayCall = mustCall || refusals === 0;
    const said = this.#text;
    const next = otherwiseJob(
      job,
      { name: call.name, argumentsJson: call.text, said, times },
      event.usage,
      mayCall,
    );
    const history = mustCall ? new CallHistory({ turns: [], limit: 0 }) : this.#asked.history;
    return new Promise((resolve, reject) => {
      let isGap = said !== '' && !said.endsWith('\n');
      const rest: JobListener = {
        onEvent: (each) => {
          if (BEFORE_ANSWER.has(each.type)) return;
          if (each.type === 'done') {
            const calls = mayCall ? (each.calls ?? 'refused') : 'ended';
            return this.#pass({ ...each, usage: addedUsage(event.usage, each.usage), calls });
          }
          if (isGap && each.type === 'text' && each.text !== '') {
            isGap = false;
            this.#pass({ type: 'text', text: '\n\n' });
          }
          this.#pass(each);
        },
        room: () => this.room(),
        onEnd: (failure) => {
          if (isFailure(failure, 'context_length_exceeded')) return resolve(end('length'));
          if (failure === null) resolve();
          else reject(failure);
        },
      };
      const asked = { ...this.#asked, job: next, history, refusals: refusals + 1 };
      this.#again(next, new CheckedJob(asked, rest, this.#again));
    });
  }

  async #requireShape(): Promise<void> {
    const { format, toolChoice } = this.#asked.job;
    if (toolChoice.mode === 'required' || toolChoice.mode === 'named') return;
    if (format.kind !== 'json_schema' && format.kind !== 'json_object') return;
    const schema = format.kind === 'json_schema' ? format.schema : ANY_OBJECT;
    const reason = await this.#problemIn(schema, this.#text);
    if (reason !== null) throw answerInvalid(this.#asked.job, { what: 'The answer', reason });
  }

  /** Repeats a call that was cut although tokens were left, as upstreams do with limits of their own. */
  #complete(event: DoneEvent, failed: FailedCheck): Promise<void> | void {
    const { job } = this.#asked;
    const { promptTokens, completionTokens } = event.usage;
    const isFull = this.#numCtx > 0 && promptTokens + completionTokens + LEAST_ROOM > this.#numCtx;
    const isOver = event.repetition === 'ended' || isFull || tokensLeft(job, event.usage) === 0;
    const isKnown = job.tools.some(({ name }) => name === failed.call.name);
    if (isOver || !isKnown || !isRepairable(job) || this.#hopeless !== null) return this.#pass(event);
    return this.#repair(event, { ...failed, problem: 'the call ends in the middle' });
  }

  #repair(event: DoneEvent, { call, problem }: FailedCheck): Promise<void> | void {
    const isCut = event.finishReason === 'length';
    const asked = this.#asked.job;
    const isKnown = asked.tools.some(({ name }) => name === call.name);
    if (!isKnown || !isRepairable(asked)) throw this.#notValid(call, problem);
    const cut = (usage: Usage): void => this.#pass({ ...event, finishReason: 'length', usage });
    if (tokensLeft(asked, event.usage) === 0) return cut(event.usage);
    const failed = { name: call.name, argumentsJson: call.text, problem };
    const repair = repairJob(asked, failed, event.usage);
    // Without a limit in the request, the upstream would cut the call again.
    const job = isCut ? { ...repair, maxTokens: repair.maxTokens ?? WHOLE_CALL_TOKENS } : repair;
    return new Promise((resolve, reject) => {
      const second: WrittenCall = { name: call.name, events: [], text: '' };
      let done: DoneEvent | null = null;
      this.#again(job, {
        onEvent: (each) => {
          if (each.type === 'tool_call' || each.type === 'tool_arguments') second.events.push(each);
          if (each.type === 'tool_arguments') second.text += each.text;
          if (each.type === 'done') done = each;
        },
        onEnd: (failure) => {
          // The repair does not fit into the window, or the cut answer was complete without the call.
          const isVain = isCut && failure !== null && !isFailure(failure, 'cancelled', 'stopped_by_operator');
          if (isVain || isFailure(failure, 'context_length_exceeded')) return resolve(cut(event.usage));
          if (failure !== null || done === null) return reject(failure ?? this.#notValid(call, problem));
          const { finishReason } = done;
          const usage = addedUsage(event.usage, done.usage);
          const next = call.events.findIndex((each, at) => at > 0 && each.type === 'tool_call');
          const behind = next < 0 ? [] : call.events.slice(next);
          resolve(
            this.#checkCall(second).then((again) => {
              if (again !== null && (isCut || finishReason === 'length')) return cut(usage);
              if (again !== null) throw this.#notValid(call, again);
              for (const each of [...second.events, ...behind]) this.#pass(each);
              this.#pass({ ...event, usage, ...(isCut ? { finishReason: 'tool_calls' } : {}) });
            }),
          );
        },
      });
    });
  }

  #notValid({ name }: WrittenCall, reason: string): Error {
    return answerInvalid(this.#asked.job, { what: `The call of tool "${name.slice(0, 64)}"`, reason });
  }

  #pass(event: JobEvent): void {
    if (!this.#isOver) this.#listener.onEvent(event);
  }

  #end(failure: Error | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener.onEnd(failure);
  }
}

const ANY_OBJECT = { type: 'object' };
