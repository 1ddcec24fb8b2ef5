/**
 * The frozen lane: jobs that must be repeatable bit for bit, one at a time, each in a fresh context of its own beside
 * the batch loop. What is pinned and why is in frozen-context.ts; what is recorded, in frozen-run.ts.
 */
import { fail } from '../../lib/errors/svc-error.ts';
import { openFrozenContext } from './frozen-context.ts';
import { checkFrozen, type FrozenHooks, type FrozenPlan, planFrozen, runFrozen } from './frozen-run.ts';
import { evaluateInTurns, Turns } from './frozen-turns.ts';
import type { ChatModel } from '../model.ts';
import type { PreparedChat } from '../prepare.ts';
import type { Outbox } from '../outbox.ts';

interface Entry {
  readonly plan: FrozenPlan;
  cancelled: boolean;
}

export class FrozenLane {
  readonly #chat: ChatModel;
  readonly #outbox: Outbox;
  readonly #turns = new Turns();
  readonly #waiting: Entry[] = [];
  #running: Entry | null = null;
  #steps = 0;

  constructor(chat: ChatModel, outbox: Outbox) {
    this.#chat = chat;
    this.#outbox = outbox;
    evaluateInTurns(chat.context, this.#turns, () => this.#mustTakeTurns());
  }

  /** Evaluations so far, so that a watchdog can tell work from standstill. */
  get steps(): number {
    return this.#steps;
  }

  /** Throws when the job is refused. */
  submit(prepared: PreparedChat): void {
    this.#waiting.push({ plan: planFrozen(this.#chat, prepared), cancelled: false });
    if (this.#running === null) void this.#work();
  }

  /** False when the job is not here. */
  cancel(jobId: string): boolean {
    const running = this.#running;
    const entry =
      running?.plan.prepared.job.jobId === jobId
        ? running
        : this.#waiting.find((one) => one.plan.prepared.job.jobId === jobId);
    if (entry === undefined || entry === null) return false;
    entry.cancelled = true;
    return true;
  }

  async #work(): Promise<void> {
    for (let entry = this.#waiting.shift(); entry !== undefined; entry = this.#waiting.shift()) {
      this.#running = entry;
      try {
        await this.#run(entry);
      } catch (error) {
        this.#outbox.failed(entry.plan.prepared.job.jobId, error);
      } finally {
        this.#running = null;
      }
      await this.#outbox.drained();
    }
  }

  async #run(entry: Entry): Promise<void> {
    const { plan } = entry;
    const { jobId } = plan.prepared.job;
    const hooks = this.#hooks(entry);
    hooks.step();
    const frozen = await openFrozenContext(this.#chat, plan);
    try {
      evaluateInTurns(frozen.context, this.#turns, () => this.#mustTakeTurns());
      hooks.event({
        type: 'started',
        promptTokens: plan.prepared.tokens.length,
        cachedTokens: 0,
        numCtx: plan.prepared.numCtx,
      });
      const { claimed } = plan;
      const done =
        claimed === null
          ? await runFrozen(this.#chat, plan, frozen, hooks)
          : await checkFrozen(this.#chat, { ...plan, claimed }, frozen, hooks);
      this.#outbox.event(jobId, done);
      this.#outbox.flush();
    } finally {
      await frozen.context.dispose();
    }
  }

  #hooks(entry: Entry): FrozenHooks {
    return {
      event: (event) => {
        this.#outbox.event(entry.plan.prepared.job.jobId, event);
        this.#outbox.flush();
      },
      step: () => {
        this.#steps += 1;
        if (entry.cancelled) throw fail('cancelled');
      },
    };
  }

  #mustTakeTurns(): boolean {
    if (this.#running === null) return false;
    const { facts, backend } = this.#chat;
    return facts.threads + this.#running.plan.threads > backend.facts.cpuMathCores;
  }
}
