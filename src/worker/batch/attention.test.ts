/** An answer whose attention is computed another way in the middle, on a simulated clock and without the native library. */
import { once, EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { generateJob } from '../../../test/support/engine/jobs.ts';
import {
  type CallRead,
  scriptedBackend,
  scriptedSpec,
} from '../../../test/support/engine/scripted-backend.ts';
import type { FromWorker } from '../../contract/ipc.ts';
import type { JobEvent } from '../../contract/job-event.ts';
import type { LoadSettings } from '../../contract/settings/shapes.ts';
import { ChatService } from '../chat-service.ts';
import { loadChat } from '../load/chat.ts';
import type { ChatModel } from '../model.ts';
import { Outbox } from '../outbox.ts';
import { choosesAttention } from './attention.ts';

let nowMs = 0;

beforeEach(() => {
  nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
});

afterEach(() => vi.restoreAllMocks());

const PROMPT = 'a long way into a conversation '.repeat(40);
const ANSWER_TOKENS = 200;
/** Rows behind nothing, which say what a step takes at the least. */
const EMPTY_ROWS = 2;

interface Answered {
  readonly text: string;
  /** How attention was computed, call by call. */
  readonly calls: readonly CallRead[];
  readonly evaluatedTokens: number;
  /** Switches that the server was told of. */
  readonly reports: readonly FromWorker[];
  /** Tokens that had left before each of these. */
  readonly leftBefore: readonly number[];
}

/** Letters in turn behind the prompt, on a machine where cells cost a third without flash attention. */
async function answered(
  settings: LoadSettings = {},
  prepare: (chat: ChatModel) => void = () => undefined,
): Promise<Answered> {
  const calls: CallRead[] = [];
  const { backend, evaluated } = scriptedBackend(
    (before) => Uint8Array.of(97 + (before.length % 26)),
    (_, rows, read) => {
      calls.push(read);
      nowMs += rows === 1 ? 20 + read.depth * (read.flashAttention ? 0.06 : 0.02) : rows;
    },
  );
  const chat = await loadChat(
    backend,
    { ...scriptedSpec, numCtx: 2_048, cells: 4_096, settings, threads: 1 },
    () => undefined,
  );
  prepare(chat);
  const loadTokens = evaluated.tokens;
  calls.length = 0;
  const ends = new EventEmitter();
  const events: JobEvent[] = [];
  const reports: FromWorker[] = [];
  const leftBefore: number[] = [];
  const outbox = new Outbox((message, onSent) => {
    if (message.type === 'attention') {
      reports.push(message);
      leftBefore.push(events.filter(({ type }) => type === 'text').length);
    }
    if (message.type === 'events') events.push(...message.events.map(({ event }) => event));
    if (events.at(-1)?.type === 'done') ends.emit('done');
    setImmediate(onSent);
  });
  const end = once(ends, 'done');
  const prompt = { kind: 'text', text: PROMPT } as const;
  new ChatService(chat, outbox).submit(generateJob({ maxTokens: ANSWER_TOKENS, prompt }));
  await end;
  return {
    text: events.map((event) => (event.type === 'text' ? event.text : '')).join(''),
    calls,
    evaluatedTokens: evaluated.tokens - loadTokens,
    reports,
    leftBefore,
  };
}

const letters = Array.from({ length: ANSWER_TOKENS }, (_, at) =>
  String.fromCharCode(97 + ((PROMPT.length + at) % 26)),
).join('');

describe('an answer deep in a conversation', () => {
  it('goes on without flash attention, and nothing is evaluated again', async () => {
    const { text, calls, evaluatedTokens, reports } = await answered();
    expect(text).toBe(letters);
    expect(calls[0]?.flashAttention).toBe(true);
    expect(calls.at(-1)?.flashAttention).toBe(false);
    const changes = calls.filter(
      (call, at) => at > 0 && call.flashAttention !== calls[at - 1]?.flashAttention,
    );
    expect(changes).toHaveLength(1);
    expect(reports).toEqual([{ type: 'attention', flash: false, ms: 0, tokens: changes[0]?.depth }]);
    // The last token of an answer is not evaluated.
    expect(evaluatedTokens).toBe(PROMPT.length + ANSWER_TOKENS - 1 + EMPTY_ROWS);
  });

  it('has every token that was sampled before it stands still', async () => {
    // A switch takes some time, and the steps before it are too short for a message each.
    const { reports, leftBefore, calls } = await answered({}, (chat) =>
      Object.assign(chat.facts, { contextBytes: 100_000_000 }),
    );
    const first = calls.find(({ flashAttention }) => !flashAttention);
    expect(reports).toHaveLength(1);
    expect(leftBefore).toEqual([(first?.depth ?? 0) - PROMPT.length + 1]);
  });

  it('is evaluated again from its beginning where its state does not come along, and ends the same', async () => {
    const { text, evaluatedTokens } = await answered({}, ({ context }) => {
      const load = context.loadSequence.bind(context);
      vi.spyOn(context, 'loadSequence')
        .mockImplementationOnce(() => false)
        .mockImplementation(load);
    });
    expect(text).toBe(letters);
    expect(evaluatedTokens).toBeGreaterThan(2 * PROMPT.length);
  });

  it('keeps flash attention where the context does not open again, and tries no second time', async () => {
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    let tried = 0;
    const { text, calls, reports } = await answered({}, ({ context }) => {
      vi.spyOn(context, 'reopen').mockImplementation(() => {
        tried += 1;
        context.clearSequence(0);
        throw new Error('no memory');
      });
    });
    expect(text).toBe(letters);
    expect(tried).toBe(1);
    expect(reports).toEqual([]);
    expect(calls.every(({ flashAttention }) => flashAttention)).toBe(true);
    expect(stderr).toHaveBeenCalledWith('Attention could not be computed another way: no memory\n');
  });

  it('keeps flash attention where copies of its state would take too much of the free memory', async () => {
    vi.spyOn(process, 'availableMemory').mockReturnValue(0);
    const { calls } = await answered({}, (chat) => Object.assign(chat.facts, { contextBytes: 1_000 }));
    expect(calls.every(({ flashAttention }) => flashAttention)).toBe(true);
  });

  it('keeps flash attention where a change would take too long', async () => {
    vi.spyOn(process, 'availableMemory').mockReturnValue(2 ** 50);
    const { calls } = await answered({}, (chat) => Object.assign(chat.facts, { contextBytes: 2 ** 45 }));
    expect(calls.every(({ flashAttention }) => flashAttention)).toBe(true);
  });

  it('keeps flash attention while state shares more cells than there would be apart', async () => {
    const { calls } = await answered({}, (chat) => Object.assign(chat, { sharedCells: PROMPT.length }));
    expect(calls.every(({ flashAttention }) => flashAttention)).toBe(true);
  });

  it('keeps flash attention where the user wants it', async () => {
    const { calls } = await answered({ flashAttention: 'on' });
    expect(calls.every(({ flashAttention }) => flashAttention)).toBe(true);
  });
});

describe('there is nothing to choose', () => {
  const chat = async (fields: object = {}, settings: LoadSettings = {}): Promise<ChatModel> => {
    const { backend } = scriptedBackend(() => new Uint8Array());
    const spec = { ...scriptedSpec, settings, threads: 1 };
    return { ...(await loadChat(backend, spec, () => undefined)), ...fields };
  };

  it('but for models on the CPU whose state holds every token', async () => {
    expect(choosesAttention(await chat())).toBe(true);
    expect(choosesAttention(await chat({ prefixReuse: 'checkpoints' }))).toBe(false);
    const { facts } = await chat();
    expect(choosesAttention(await chat({ facts: { ...facts, gpuLayers: 1 } }))).toBe(false);
  });

  it.each<LoadSettings>([
    { flashAttention: 'on' },
    { flashAttention: 'off' },
    { kvType: 'q8_0' },
    { kvTypeV: 'q4_0' },
  ])('with %j', async (settings) => {
    expect(choosesAttention(await chat({}, settings))).toBe(false);
  });

  it('where a benchmark leaves it out', async () => {
    const { spec } = await chat();
    const without = { ...spec, planner: { kind: 'tuned', without: ['attention'] } };
    expect(choosesAttention(await chat({ spec: without }))).toBe(false);
  });
});
