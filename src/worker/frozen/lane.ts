/**
 * worker/frozen owns jobs that must be repeatable bit for bit: one at a time, each in a fresh context next to the
 * batch loop. context.ts defines the pins, account.ts the recorded facts. It knows nothing of records' signatures,
 * nor of other streams, with which it takes turns between messages.
 */
import { fail } from '../../lib/errors/svc-error.ts';
import { handleMessages } from '../event-loop.ts';
import type { ChatModel } from '../model.ts';
import type { Outbox } from '../outbox.ts';
import type { PreparedChat } from '../prepare.ts';
import { checkFrozen } from './check.ts';
import { openFrozenContext } from './context.ts';
import { type FrozenPlan, planFrozen } from './plan.ts';
import { type FrozenHooks, runFrozen } from './run.ts';

interface Entry {
  readonly plan: FrozenPlan;
  cancelled: boolean;
}

export class FrozenLane {
  readonly #chat: ChatModel;
  readonly #outbox: Outbox;
  readonly #waiting: Entry[] = [];
  #running: Entry | null = null;
  #steps = 0;

  constructor(chat: ChatModel, outbox: Outbox) {
    this.#chat = chat;
    this.#outbox = outbox;
  }

  /** Evaluations so far, by which a watchdog detects a hang. */
  get steps(): number {
    return this.#steps;
  }

  submit(prepared: PreparedChat): void {
    this.#waiting.push({ plan: planFrozen(this.#chat, prepared), cancelled: false });
    if (this.#running === null) void this.#work();
  }

  cancel(jobId: string): boolean {
    const running = this.#running;
    const entry =
      running?.plan.prepared.job.jobId === jobId
        ? running
        : this.#waiting.find(({ plan }) => plan.prepared.job.jobId === jobId);
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
    await hooks.step();
    const frozen = await openFrozenContext(this.#chat, plan);
    try {
      hooks.event({
        type: 'started',
        promptTokens: plan.prepared.tokens.length,
        cachedTokens: 0,
        numCtx: plan.numCtx,
        preparation: plan.prepared.preparation,
        ...(plan.prepared.folds.length === 0 ? {} : { folds: [...plan.prepared.folds] }),
        ...(plan.prepared.unheld.length === 0 ? {} : { unheld: [...plan.prepared.unheld] }),
      });
      const { claimed } = plan;
      const done =
        claimed === null
          ? await runFrozen(this.#chat, { plan, frozen }, hooks)
          : await checkFrozen(this.#chat, { plan, frozen, claimed }, hooks);
      this.#outbox.event(jobId, done);
      this.#outbox.flush();
    } finally {
      frozen.context.dispose();
    }
  }

  #hooks(entry: Entry): FrozenHooks {
    return {
      event: (event) => {
        this.#outbox.event(entry.plan.prepared.job.jobId, event);
        this.#outbox.flush();
      },
      step: async () => {
        await handleMessages();
        this.#steps += 1;
        if (entry.cancelled) throw fail('cancelled');
      },
    };
  }
}
