/**
 * Sessions of coding agents on every kind of memory: what could be reused of a prompt and was evaluated again, and what
 * several agents that begin alike evaluate at once. docs/prompt-cache.md has the figures.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GenerateJob, Turn } from '../../src/contract/job.ts';
import { writeTinyChat } from '../../tools/models/tiny-chat.ts';
import { MEMORY_KINDS } from '../support/memory-kinds.ts';
import { bootWorker, type TestWorker } from '../support/engine/worker-harness.ts';

const MIB = 1024 * 1024;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hearth-sub-agents-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function started(name: string, parallel: number): Promise<TestWorker> {
  const write = MEMORY_KINDS.find(([kind]) => kind === name)?.[1] ?? writeTinyChat;
  const path = join(folder, `${name}.gguf`);
  await write(path, { contextLength: 16_384 });
  const worker = await bootWorker();
  const promptCache = { ramBytes: 256 * MIB, disk: null };
  await worker.load({ path, numCtx: 8192, cells: parallel * 8192, parallel, promptCache, draftTokens: 0 });
  return worker;
}

const user = (content: string): Turn => ({ role: 'user', content });
const words = 'the small house and the sea and the stones and the time ';
const system: Turn = { role: 'system', content: words.repeat(8) };

/** What was evaluated of prompts although an earlier request had begun like them. */
class Account {
  readonly #worker: TestWorker;
  readonly #states: Uint32Array[] = [];
  shared = 0;
  again = 0;

  constructor(worker: TestWorker) {
    this.#worker = worker;
  }

  get share(): number {
    return 1 - this.again / this.shared;
  }

  async ask(turns: readonly Turn[]): Promise<string> {
    const fields: Partial<GenerateJob> = { prompt: { kind: 'chat', turns: [...turns] }, maxTokens: 12 };
    const { renderedPrompt } = await this.#worker.explain(fields);
    const { text, done } = await this.#worker.generate(fields);
    const { promptTokens, cachedTokens } = done.usage;
    const state = (await this.#worker.tokenize({ text: renderedPrompt, parseSpecial: true })).tokens;
    const common = Math.max(0, ...this.#states.map((earlier) => sharedTokens(earlier, state)));
    // The last token of a prompt is evaluated always, because the first of the answer comes of it.
    const reusable = Math.min(common, promptTokens - 1);
    this.shared += reusable;
    this.again += Math.max(0, reusable - cachedTokens);
    const whole = await this.#worker.tokenize({ text: renderedPrompt + text, parseSpecial: true });
    this.#states.push(whole.tokens.subarray(0, -1));
    return text;
  }
}

function sharedTokens(one: Uint32Array, other: Uint32Array): number {
  const at = one.findIndex((token, index) => token !== other[index]);
  return at < 0 ? one.length : at;
}

const TURNS = 50;
type Session = (turns: Turn[], answer: string, at: number, account: Account) => Promise<void> | void;
const result = (at: number): Turn => user(`result ${at}: ${words}`);

/** What becomes of a conversation after each answer. */
const SESSIONS: Readonly<Record<string, Session>> = {
  appends: (turns, answer, at) => {
    turns.push({ role: 'assistant', content: answer }, result(at));
  },
  'edits its last turn': async (turns, answer, at, account) => {
    turns.push({ role: 'assistant', content: answer }, result(at));
    if (at % 5 !== 4) return;
    await account.ask(turns);
    turns[turns.length - 1] = user(`result ${at}, another one: ${words}`);
  },
  'sends answers back shorter': (turns, answer, at) => {
    turns.push({ role: 'assistant', content: answer.slice(-4) }, result(at));
  },
  branches: async (turns, answer, at, account) => {
    turns.push({ role: 'assistant', content: answer }, result(at));
    if (at % 5 === 4) await account.ask([...turns.slice(0, 1), user(`part ${at}: ${words}`)]);
  },
};

describe.each(MEMORY_KINDS.map(([name]) => name))('an agent on a model with a %s memory', (name) => {
  it.each(Object.keys(SESSIONS))(
    `of ${TURNS} turns that %s evaluates next to nothing again`,
    async (kind) => {
      const worker = await started(name, 2);
      const account = new Account(worker);
      const turns: Turn[] = [system, user('go')];
      for (let at = 0; at < TURNS; at += 1)
        await SESSIONS[kind]?.(turns, await account.ask(turns), at, account);
      await worker.end();
      expect(account.shared).toBeGreaterThan(10_000);
      expect(account.share).toBeGreaterThanOrEqual(0.98);
    },
  );

  it('evaluates the beginning of eight agents that start at once a single time, or twice if the first runs ahead', async () => {
    const worker = await started(name, 8);
    const opening: Turn = { role: 'system', content: words.repeat(60) };
    const ask = (at: number) =>
      worker.generate({ prompt: { kind: 'chat', turns: [opening, user(`agent ${at}`)] }, maxTokens: 4 });
    const answers = await Promise.all(Array.from({ length: 8 }, (_, at) => ask(at)));
    const usages = answers.map(({ done }) => done.usage);
    const [longest = 0] = usages.map(({ promptTokens }) => promptTokens).toSorted((a, b) => b - a);
    const evaluated = usages.reduce((sum, usage) => sum + usage.promptTokens - usage.cachedTokens, 0);
    await worker.end();
    expect(longest).toBeGreaterThan(600);
    // On a busy machine the first may be evaluated before the second arrives. It then has no state where the two part, and a
    // memory that cannot be cut evaluates the beginning once more.
    expect(evaluated).toBeLessThan(2 * longest + 8 * 64);
  });
});
