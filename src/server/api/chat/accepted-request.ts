import type { Engine } from '../../engine/ports.ts';
import type { EvidenceIssuer } from '../../../trust/evidence/issuer.ts';
import type { AnsweredResponse } from '../../../trust/evidence/record.ts';
import type { Caller } from '../caller.ts';
import { asWhole, type ChoiceEvent, type Choices, runChoices } from '../generation/choices.ts';
import {
  type AskedRecord,
  type FrozenInput,
  type OpenedFrozen,
  openFrozen,
  recordMembers,
  type SignedBody,
  signedBody,
} from '../generation/frozen.ts';
import { type StreamItem, streamItems } from '../generation/stream-item.ts';
import { type AnswerEvent, checker } from './choice-guard.ts';
import { collect, type Collected } from './collected.ts';
import { type RequestNotes, withFolds, withUnheld } from './request-notes.ts';

export interface RequestPlan {
  readonly choices: Choices;
  readonly understood: RequestNotes;
  readonly caller: Caller;
}

export type AnswerWriter = (index: number, event: AnswerEvent) => readonly object[];

export interface AnswerDialect<Body extends object = object> {
  whole(collected: Collected): Body | Promise<Body>;
  writer(): AnswerWriter | Promise<AnswerWriter>;
  onStarted?(): void;
  readonly record?: RecordDialect;
}

export interface RecordDialect extends AskedRecord {
  readonly evidence: EvidenceIssuer | null;
  whole(collected: Collected): Promise<AnsweredResponse & object>;
  head(): Promise<object>;
}

export class AcceptedRequest<Body extends object = object> {
  understood: RequestNotes;
  readonly #engine: Pick<Engine, 'submit'>;
  readonly #plan: RequestPlan;
  readonly #dialect: AnswerDialect<Body>;
  #proved: OpenedFrozen | null = null;

  constructor(engine: Pick<Engine, 'submit'>, plan: RequestPlan, dialect: AnswerDialect<Body>) {
    this.understood = plan.understood;
    this.#engine = engine;
    this.#plan = plan;
    this.#dialect = dialect;
  }

  async whole(): Promise<{ readonly body: Body; readonly numCtx: number }> {
    const collected = await this.#collect(asWhole(this.#plan.choices));
    return { body: await this.#dialect.whole(collected), numCtx: collected.numCtx };
  }

  /** Submits nothing before the first item is requested. */
  stream(): AsyncGenerator<StreamItem, void, void> {
    return streamItems(async () => {
      const proved = this.#proved;
      const choices = proved?.pinned ?? this.#plan.choices;
      const write = await this.#dialect.writer();
      const passed = checker(choices.jobs);
      const kept: ChoiceEvent[] = [];
      return {
        events: runChoices(this.#engine, choices, this.#plan.caller.signal),
        showsProgress: choices.showsProgress === true,
        toChunks: (index, event) => {
          if (proved !== null) kept.push({ index, event });
          return passed(index, event).flatMap((each) => write(index, each));
        },
        atEnd: proved === null ? undefined : async () => [await this.#recordEvent(proved, kept)],
      };
    });
  }

  async frozen(input: FrozenInput): Promise<SignedBody & { readonly numCtx: number }> {
    const { pinned, sign } = await this.#open(input);
    const collected = await this.#collect(pinned);
    const body = await this.#record.whole(collected);
    const [{ done }] = collected.answers;
    return { ...signedBody(body, await sign(body, done)), numCtx: collected.numCtx };
  }

  /** Ends the stream with a record of its answer. Call it before `stream`. */
  async prove(input: FrozenInput): Promise<void> {
    this.#proved = await this.#open(input);
  }

  get #record(): RecordDialect {
    const { record } = this.#dialect;
    if (record === undefined) throw new Error('a record was asked of a dialect that has none');
    return record;
  }

  #open(input: FrozenInput): Promise<OpenedFrozen> {
    const { evidence, body, route } = this.#record;
    return openFrozen(evidence, this.#plan.choices, { ...input, body, route });
  }

  async #recordEvent({ pinned, sign }: OpenedFrozen, kept: readonly ChoiceEvent[]): Promise<object> {
    const collected = await collect(pinned.jobs, kept);
    const body = await this.#record.whole(collected);
    const [{ done }] = collected.answers;
    return {
      ...(await this.#record.head()),
      choices: [],
      ...recordMembers(body, await sign(body, done)),
    };
  }

  async #collect(choices: Choices): Promise<Collected> {
    const events = runChoices(this.#engine, choices, this.#plan.caller.signal);
    const collected = await collect(choices.jobs, events, () => this.#dialect.onStarted?.());
    this.understood = withUnheld(withFolds(this.understood, collected.folds), collected.unheld);
    return collected;
  }
}
