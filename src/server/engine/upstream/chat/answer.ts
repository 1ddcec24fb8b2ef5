/**
 * Converts a streamed answer to job events. Its content is hostile: an invalid piece ends the answer with
 * `upstream_broken` and never passes as its end. Ids and model names in it are ignored.
 */
import { Check } from 'typebox/value';
import { parseJson } from '../../../../lib/base/json.ts';
import {
  CallGuard,
  type DoneEvent,
  type FinishReason,
  type JobEvent,
  Repetition,
  type SampledToken,
  type TokenLogprob,
  type Usage,
} from '../../../../contract/job-event.ts';
import { fail, type SvcError } from '../../../../lib/errors/svc-error.ts';
import { type Asked, broken, failureInStream } from '../failures.ts';
import { readCount, field, isText, readList, readText } from '../untrusted.ts';
import { ARGUMENTS_LIMITS, UPSTREAM_LIMITS } from '../limits.ts';
import { parseSpelled } from '../../../../lib/json/parse-spelled.ts';
import { writeJson } from '../../../../lib/json/spelled-numbers.ts';
import { JsonGauge } from '../../../../lib/json/json-gauge.ts';
import { UpstreamWords, WholeCharacters } from './answer-text.ts';

interface AnswerContext {
  readonly asked: Asked;
  readonly isChat: boolean;
  /** Further tool calls are dropped, as if the model had stopped there. */
  readonly maxCalls: number;
  readonly wantsLogprobs: boolean;
  readonly repetitionLimit: number;
  readonly numCtx: number;
  readonly cutsPrompts: boolean;
  readonly sinceSentMs: () => number;
}

type Saying = 'text' | 'reasoning' | 'tool_arguments';

const SEEN_MS = 1;

export class AnswerReader {
  readonly #context: AnswerContext;
  readonly #emit: (event: JobEvent) => void;
  readonly #timings = { prefillMs: 0, decodeMs: 0 };
  readonly #reported: { prefillMs?: number; decodeMs?: number } = {};
  #startedMs: number | null = null;
  #finish: FinishReason | null = null;
  #stopString: string | undefined;
  #usage: Usage | null = null;
  #drafts: { drafted: number; accepted: number } | null = null;
  #calls = 0;
  #openCall = -1;
  #pieces = 0;
  #saidChars = 0;
  #arguments = new JsonGauge(ARGUMENTS_LIMITS);
  readonly #characters = new WholeCharacters();
  #saying: Saying = 'text';
  readonly #words: UpstreamWords;
  #repetition: DoneEvent['repetition'];
  #guarded: DoneEvent['calls'];
  /** `[DONE]` was read or the answer was ended here: nothing may follow. */
  isOver = false;

  get wasEnded(): boolean {
    return this.#words.isOver;
  }

  constructor(context: AnswerContext, emit: (event: JobEvent) => void) {
    this.#context = context;
    this.#emit = emit;
    this.#words = new UpstreamWords(context.repetitionLimit);
  }

  /** Takes the `data` of one event, already parsed if it is long; throws if it is invalid. */
  take(data: string, fields?: unknown): void {
    if (this.isOver) return;
    if (data === '[DONE]') {
      this.isOver = true;
      return;
    }
    // Some send call arguments as an object, whose numbers keep their spelling.
    const chunk = fields ?? parseJson(data, data.includes('"tool_calls"') ? parseSpelled : JSON.parse);
    if (typeof chunk !== 'object' || chunk === null) throw this.unreadable('it is no object');
    const error = field(chunk, 'error');
    if (error !== undefined && error !== null) throw failureInStream(this.#context.asked, error);
    this.#readUsage(chunk);
    this.#readGuards(chunk);
    const choices = field(chunk, 'choices');
    if (choices === undefined || choices === null) return;
    if (!Array.isArray(choices)) throw this.#broken('choices is not a list');
    const [choice] = choices as unknown[];
    if (choice !== undefined) this.#readChoice(choice);
  }

  /** Call at the end of the body or after `[DONE]`; throws if the answer is incomplete. */
  end(): DoneEvent {
    if (this.wasEnded) {
      this.#finish = 'length';
      this.#repetition = 'ended';
    }
    if (this.#finish === null)
      throw broken(this.#context.asked.upstream, 'cut', 'it ended without a finish reason');
    this.#checkPrompt();
    const calls = this.#calls > this.#context.maxCalls ? 'dropped' : this.#guarded;
    const finishReason = this.#calls > 0 && this.#finish !== 'length' ? 'tool_calls' : this.#finish;
    return {
      type: 'done',
      finishReason: finishReason === 'tool_calls' && this.#calls === 0 ? 'stop' : finishReason,
      ...(this.#repetition === undefined ? {} : { repetition: this.#repetition }),
      ...(calls === undefined ? {} : { calls }),
      ...(this.#stopString === undefined ? {} : { stopString: this.#stopString }),
      usage: this.#usage ?? {
        promptTokens: 0,
        cachedTokens: 0,
        completionTokens: this.#pieces,
        reasoningTokens: 0,
      },
      timings: {
        ...this.#timings,
        ...this.#reported,
        ...(this.#drafts === null ? {} : { drafts: this.#drafts }),
      },
    };
  }

  #checkPrompt(): void {
    const { cutsPrompts, numCtx } = this.#context;
    const promptTokens = this.#usage?.promptTokens ?? 0;
    if (!cutsPrompts || numCtx === 0 || promptTokens < numCtx) return;
    const detail = { promptTokens, numCtx, maxCtx: numCtx, atLeast: true, param: 'messages' };
    throw fail('context_length_exceeded', detail);
  }

  #readChoice(choice: unknown): void {
    this.#start();
    if (this.#context.isChat) this.#readDelta(field(choice, 'delta'), choice);
    else this.#text(field(choice, 'text'), choice);
    const finish = field(choice, 'svc_finish_reason') ?? field(choice, 'finish_reason');
    if (finish === undefined || finish === null) return;
    if (typeof finish !== 'string') throw this.#broken('its finish reason is not text');
    this.#completeCharacter(toFinishReason(finish) === 'length');
    this.#finish = toFinishReason(finish);
    const stopString = field(choice, 'stop_reason');
    if (typeof stopString === 'string' && finish === 'stop') this.#stopString = stopString.toWellFormed();
  }

  #readDelta(delta: unknown, choice: unknown): void {
    if (delta === undefined || delta === null) return;
    if (typeof delta !== 'object') throw this.#broken('a delta is not an object');
    const thought = [field(delta, 'reasoning_content'), field(delta, 'reasoning')].find(isText);
    if (thought !== undefined && thought !== '') this.#sayText('reasoning', thought);
    this.#text(field(delta, 'content'), choice);
    for (const call of readList(field(delta, 'tool_calls'))) this.#readCall(call);
  }

  #text(given: unknown, choice: unknown): void {
    const text = isText(given) ? given : '';
    const tokens = this.#context.wantsLogprobs ? sampledTokens(field(choice, 'logprobs')) : [];
    if (text === '' && tokens.length === 0) return;
    this.#sayText('text', text, tokens);
  }

  #sayText(type: Saying, given: string, tokens: readonly SampledToken[] = []): void {
    if (type !== this.#saying) this.#completeCharacter(false);
    this.#saying = type;
    const text = this.#characters.take(given);
    if (text === '' && tokens.length === 0) return;
    this.#say({ type, text, ...(tokens.length === 0 ? {} : { tokens: [...tokens] }) });
  }

  #completeCharacter(isCut: boolean): void {
    const text = this.#characters.end(isCut);
    if (text !== '') this.#say({ type: this.#saying, text });
  }

  #readCall(call: unknown): void {
    const index = readCount(field(call, 'index')) ?? this.#openCall;
    const definition = field(call, 'function');
    const name = readText(field(definition, 'name'));
    const text = readArguments(field(definition, 'arguments'));
    if (text === undefined) throw this.#broken('the arguments of a tool call are neither text nor an object');
    const isNext = index > this.#openCall;
    if (index < this.#openCall) throw this.#broken('its tool calls are mixed up');
    if (isNext) {
      if (name === undefined || name === '') throw this.#broken('a tool call has no name');
      this.#openCall = index;
      this.#calls += 1;
      this.#arguments = new JsonGauge(ARGUMENTS_LIMITS);
    }
    if (this.#calls > this.#context.maxCalls) return;
    this.#checkArguments(text);
    if (isNext) {
      this.#completeCharacter(false);
      this.#say({ type: 'tool_call', name: name ?? '' });
    }
    if (text !== '') this.#sayText('tool_arguments', text);
  }

  /** The arguments are parsed as one text later, on the way to the client. */
  #checkArguments(text: string): void {
    if (!this.#arguments.exceeds(text)) return;
    const { chars, depth, tokens } = ARGUMENTS_LIMITS;
    throw this.#broken(
      `the arguments of a tool call have more than ${chars} characters, ${tokens} values or ${depth} levels`,
    );
  }

  #readGuards(chunk: object): void {
    const [repetition, calls] = [field(chunk, 'svc_repetition'), field(chunk, 'svc_call_guard')];
    if (Check(Repetition, repetition)) this.#repetition = repetition;
    if (Check(CallGuard, calls)) this.#guarded = calls;
  }

  #readUsage(chunk: object): void {
    const usage = field(chunk, 'usage');
    const timings = field(chunk, 'timings');
    if (typeof usage === 'object' && usage !== null) {
      const [prompt, completion] = [
        readCount(field(usage, 'prompt_tokens')),
        readCount(field(usage, 'completion_tokens')),
      ];
      if (prompt !== undefined && completion !== undefined) {
        const cached =
          readCount(field(field(usage, 'prompt_tokens_details'), 'cached_tokens')) ??
          readCount(field(timings, 'cache_n'));
        this.#usage = {
          promptTokens: prompt,
          completionTokens: completion,
          cachedTokens: Math.min(prompt, cached ?? 0),
          reasoningTokens:
            readCount(field(field(usage, 'completion_tokens_details'), 'reasoning_tokens')) ?? 0,
        };
      }
    }
    const [prefillMs, decodeMs] = [field(timings, 'prompt_ms'), field(timings, 'predicted_ms')];
    if (this.#isSpan(prefillMs)) this.#reported.prefillMs = prefillMs;
    if (this.#isSpan(decodeMs)) this.#reported.decodeMs = decodeMs;
    const drafted = readCount(field(timings, 'draft_n'));
    const accepted = readCount(field(timings, 'draft_n_accepted'));
    if (drafted !== undefined && accepted !== undefined && drafted > 0) this.#drafts = { drafted, accepted };
  }

  #isSpan(value: unknown): value is number {
    return typeof value === 'number' && value >= 0 && value <= this.#context.sinceSentMs();
  }

  #say(event: JobEvent): void {
    if (this.#finish !== null) throw this.#broken('it goes on behind its finish reason');
    if ('text' in event) {
      this.#saidChars += event.text.length;
      this.#words.add(event.text);
    }
    if (this.#saidChars > UPSTREAM_LIMITS.saidChars)
      throw this.#broken(`it says more than ${UPSTREAM_LIMITS.saidChars} characters`);
    this.#pieces += 1;
    const nowMs = this.#context.sinceSentMs();
    if (this.#pieces === 1) this.#timings.prefillMs = nowMs;
    // The time of the first piece itself is unknown. Pieces that arrived together measure nothing.
    const seenMs = nowMs - this.#timings.prefillMs;
    this.#timings.decodeMs = seenMs < SEEN_MS ? 0 : (seenMs * this.#pieces) / (this.#pieces - 1);
    this.#emit(event);
    if (this.#words.isOver) this.isOver = true;
  }

  #start(): void {
    if (this.#startedMs !== null) return;
    this.#startedMs = this.#context.sinceSentMs();
    this.#emit({
      type: 'started',
      promptTokens: this.#usage?.promptTokens ?? 0,
      cachedTokens: this.#usage?.cachedTokens ?? 0,
      numCtx: this.#context.numCtx,
    });
  }

  unreadable(reason: string): SvcError {
    return this.#broken(`one of its events is not usable JSON: ${reason}`);
  }

  #broken(reason: string): SvcError {
    return broken(this.#context.asked.upstream, 'rubbish', reason);
  }
}

function toFinishReason(said: string): FinishReason {
  if (said === 'length' || said === 'repetition') return 'length';
  return said === 'tool_calls' || said === 'function_call' ? 'tool_calls' : 'stop';
}

function readArguments(given: unknown): string | undefined {
  if (given === undefined || given === null) return '';
  if (typeof given === 'object') return writeJson(given).toWellFormed();
  return isText(given) ? given : undefined;
}

const MOST_ALTERNATIVES = 20;

/** Log probabilities in the form of OpenAI's chat streams; malformed ones are left out. */
function sampledTokens(logprobs: unknown): SampledToken[] {
  return readList(field(logprobs, 'content')).flatMap((entry) => {
    const chosen = readToken(entry);
    if (chosen === null) return [];
    const top = readList(field(entry, 'top_logprobs')).slice(0, MOST_ALTERNATIVES);
    return [{ chosen, top: top.flatMap((each) => readToken(each) ?? []) }];
  });
}

function readToken(entry: unknown): TokenLogprob | null {
  const text = readText(field(entry, 'token'));
  const logprob = field(entry, 'logprob');
  if (text === undefined || typeof logprob !== 'number' || !Number.isFinite(logprob)) return null;
  const given = readList(field(entry, 'bytes'));
  const isBytes =
    given.length > 0 &&
    given.every((byte) => Number.isInteger(byte) && Number(byte) >= 0 && Number(byte) < 256);
  return { text, logprob, bytes: isBytes ? (given as number[]) : [...Buffer.from(text)] };
}
