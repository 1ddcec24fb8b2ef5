/**
 * api/chat owns the one use case behind every dialect of chat: what is refused before anything runs, and the accepted
 * conversation as checked events, as a whole answer, or as an explanation. It knows no dialect: no wire shape of a
 * conversation, no chunk, no finish reason but the true one. The folders of api/dialects translate to and from it.
 */
import type { ExplainedEvent } from '../../contract/job-event.ts';
import { collectEvents, eventOf } from '../../engine/collect.ts';
import type { ContextEdit, Engine } from '../../engine/ports.ts';
import { isFailure } from '../../lib/errors/svc-error.ts';
import type { VolatileTreatment } from '../../lib/prompt-cache/volatile-lines.ts';
import type { Caller } from '../caller.ts';
import { answerHead, type HeadPorts } from '../generation/answer-head.ts';
import {
  checkSlots,
  type ChoiceEvent,
  type Choices,
  type JobContent,
  planChoices,
  runChoices,
} from '../generation/choices.ts';
import { idleOptions } from '../generation/idle-options.ts';
import { newJobId } from '../generation/job-id.ts';
import { checkIgnored, type GenerationFields } from '../generation/parameters.ts';
import type { Models, ServedModel } from '../models/served-model.ts';
import type { CacheLog } from '../cache-log.ts';
import { type StreamItem, streamItems } from '../generation/stream-item.ts';
import type { AnswerEvent } from './answer-event.ts';
import { idleGuard } from './call-guard.ts';
import { compact, type Compacted } from './compaction/compact.ts';
import { modelEdits } from './compaction/context-edits.ts';
import type { SummaryBook } from './compaction/summary.ts';
import { checker } from './choice-guard.ts';
import { collect, type Collected } from './collected.ts';
import { type FetchImage, withImages } from './fetched-images.ts';
import { relaxationsOf } from './relaxations.ts';
import { type RequestNotes, withFolds, withUnheld } from './request-notes.ts';
import { withSystem } from './model-system.ts';
import { withoutVolatile } from './volatile-lines.ts';

export interface ChatPorts extends HeadPorts {
  readonly models: Pick<Models, 'resolve'>;
  readonly engine: Pick<Engine, 'submit' | 'plan'>;
  readonly strictParams: boolean;
  /** A model that is not installed is answered for by the default one. */
  readonly unknownModelIsDefault: boolean;
  /** What happens to lines of system prompts that would spoil the prompt cache. */
  readonly volatileLines: VolatileTreatment;
  readonly cacheLog: CacheLog;
  /** Null: an address in the place of an image is refused. */
  readonly images: FetchImage | null;
  /** Of conversations that were too long. */
  readonly summaries: SummaryBook;
}

/** A conversation to be continued, in no dialect's words. */
export interface ChatAsk {
  readonly model: string;
  /** Reads the turns, the tools and their choice, the shape of the answer, thinking; throws what is refused there. */
  readonly content: (model: ServedModel, fetchesImages: boolean) => JobContent;
  /** How the answer is sampled and where it ends. */
  readonly options: GenerationFields;
  /** Fields of the request that have no effect with this model, as its dialect names them. */
  readonly idle: (model: ServedModel) => readonly string[];
  /** How a long conversation is made shorter; absent: as its model is set. */
  readonly edits?: readonly ContextEdit[] | undefined;
  /** True: the model reads the very words that were sent, volatile lines included. */
  readonly verbatim?: boolean;
}

/** What an event of an answer adds to a stream. */
export type AnswerWriter = (index: number, event: AnswerEvent) => readonly object[];

/** Resolves the model and plans the jobs; everything that can be refused without the engine is refused here. */
export async function acceptChat(ports: ChatPorts, ask: ChatAsk, caller: Caller): Promise<AcceptedChat> {
  const { options } = ask;
  const { model, substituted } = await resolveModel(ports, ask.model);
  const asked = await withImages(ask.content(model, ports.images !== null), ports.images);
  const treatment = ask.verbatim === true ? 'keep' : ports.volatileLines;
  const trimmed = withoutVolatile(asked.prompt, treatment);
  const { prompt, rewritten } = ask.verbatim === true ? trimmed : withSystem(trimmed, model.defaults.system);
  const content = { ...asked, prompt };
  const relaxed = await relaxationsOf(content, ports.strictParams);
  const planned = planChoices(options, content, { model, caller });
  // What is read verbatim reuses nothing, so that there is nothing to tell.
  const choices =
    ask.verbatim === true
      ? planned
      : {
          ...planned,
          account: ports.cacheLog.watch(caller, model.id),
          edits: ask.edits ?? modelEdits(model.defaults.compact),
        };
  const idle = idleOptions(options, content, choices.submission.target);
  const unguarded = idleGuard(options, ask.verbatim === true);
  const ignored = [...new Set([...idle, ...ask.idle(model), ...unguarded])];
  checkIgnored(ports.strictParams, ignored);
  checkSlots(ports.engine, choices);
  const hasStandIn = !model.hasChatTemplate;
  const understood = { ignored, relaxed, substituted, hasStandIn, rewritten };
  return new AcceptedChat(ports, choices, { caller, understood });
}

interface Resolved {
  readonly model: ServedModel;
  /** The id of the model where it stands in for one that is not installed. */
  readonly substituted: string | null;
}

async function resolveModel({ models, unknownModelIsDefault }: ChatPorts, name: string): Promise<Resolved> {
  try {
    return { model: await models.resolve(name, 'chat'), substituted: null };
  } catch (error) {
    if (!unknownModelIsDefault || !isFailure(error, 'model_not_found')) throw error;
    const model = await models.resolve('default', 'chat');
    return { model, substituted: model.id };
  }
}

/** A stream that ends with a record of its answer. */
export interface StreamProof {
  /** As pinned for the record. */
  readonly choices: Choices;
  readonly chunkOf: (answer: Collected) => Promise<object>;
}

/** A conversation that may run; it runs once. */
export class AcceptedChat {
  /** With what the engine told of it, once the answer is there. */
  understood: RequestNotes;
  readonly choices: Choices;
  readonly caller: Caller;
  readonly #ports: ChatPorts;

  constructor(ports: ChatPorts, choices: Choices, asked: Pick<AcceptedChat, 'caller' | 'understood'>) {
    this.#ports = ports;
    this.choices = choices;
    this.caller = asked.caller;
    this.understood = asked.understood;
  }

  /** The answers as they come, in what the dialect's writer makes of them; nothing runs before the first is asked for. */
  stream(
    open: () => Promise<AnswerWriter>,
    proof: StreamProof | null = null,
  ): AsyncGenerator<StreamItem, void, void> {
    return streamItems(async () => {
      const write = await open();
      const choices = proof?.choices ?? this.choices;
      const kept: ChoiceEvent[] = [];
      const passed = checker(choices.jobs);
      return {
        events: runChoices(this.#ports.engine, choices, this.caller.signal),
        showsProgress: choices.showsProgress === true,
        chunksOf: (index, event) => {
          if (proof !== null) kept.push({ index, event });
          return passed(index, event).flatMap((each) => write(index, each));
        },
        atEnd:
          proof === null ? undefined : async () => [await proof.chunkOf(await collect(choices.jobs, kept))],
      };
    });
  }

  /** `onStarted` is called when the engine takes a job. */
  async whole(onStarted?: () => void): Promise<Collected> {
    const { signal } = this.caller;
    const { choices } = this;
    const events = runChoices(this.#ports.engine, choices, signal);
    const collected = await collect(choices.jobs, events, onStarted);
    this.understood = withUnheld(withFolds(this.understood, collected.folds), collected.unheld);
    return collected;
  }

  /** What running it would do. Loads the model where that is needed, and generates nothing. */
  explained(): Promise<ExplainedEvent> {
    return explain(this.#ports.engine, this.choices, this.caller);
  }

  /** The conversation as its edits leave it; `mayGenerate` false: nothing is generated for it. */
  async compacted(mayGenerate: boolean, edits = this.choices.edits ?? []): Promise<Compacted> {
    const { engine, summaries: book } = this.#ports;
    const { submission, jobs } = this.choices;
    const [job] = jobs;
    if (job?.prompt.kind !== 'chat') throw new Error('a chat request became no conversation');
    const { signal } = this.caller;
    const asked = { ...job, prompt: job.prompt };
    const submit: Engine['submit'] = (each, until, listener) => engine.submit(each, until, listener);
    return compact(asked, edits, { submit, submission, signal, book, mayGenerate, onWait: () => {} });
  }

  /** What answers begin with; `idOf` is given the time of creation in seconds. */
  head<T extends string>(shape: { readonly object: T; readonly idOf: (created: number) => string }) {
    return answerHead(this.#ports, this.choices.model, shape);
  }
}

/** Runs the jobs of a request; throws when an answer is over and is not what was asked for. */
export function completeChat(
  engine: Pick<Engine, 'submit'>,
  choices: Choices,
  { signal, onStarted }: { readonly signal: AbortSignal; readonly onStarted?: (() => void) | undefined },
): Promise<Collected> {
  return collect(choices.jobs, runChoices(engine, choices, signal), onStarted);
}

/** Renders and counts the first job of a request. */
export async function explain(
  engine: Pick<Engine, 'submit'>,
  { submission, jobs: [job] }: Choices,
  caller: Caller,
): Promise<ExplainedEvent> {
  if (job === undefined) throw new Error('a chat request became no job');
  const explainJob = { kind: 'explain' as const, jobId: newJobId(caller), job };
  const events = await collectEvents((listener) =>
    engine.submit({ ...submission, job: explainJob }, caller.signal, listener),
  );
  return eventOf(events, 'explained');
}
