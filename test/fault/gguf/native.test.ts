/**
 * The generated models and the broken ones under the real llama.cpp, in a child process.
 * `SVC_LONG_TESTS=1` loads every broken variant without the gate instead of one of each kind.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { brokenGgufs } from '../../fixtures/gguf/broken.ts';
import { tinyChatContent, writeTinyChat } from '../../../tools/models/tiny-chat.ts';
import { writeTinyEmbed } from '../../../tools/models/tiny-embed.ts';
import { writeTinyRecurrent, writeTinySlidingWindow } from '../../../tools/models/tiny-variants.ts';
import { TENSOR_TYPES_BY_CODE } from '../../../packages/gguf/src/format/format.ts';
import { inspectGguf } from '../../../src/lib/gguf/inspect.ts';
import { encodeHeader } from '../../../tools/gguf/writer.ts';
import { NativeChild, type Outcome } from './native-child.ts';

interface Spoken {
  readonly answers: readonly { readonly tokens: number; readonly ended: boolean; readonly text: string }[];
  readonly roundTrip: string;
  readonly needsCheckpoints: boolean;
}

const native = new NativeChild();
let folder: string;
const at = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hearth-native-'));
  await writeTinyChat(at('chat.gguf'));
  await writeTinyEmbed(at('embed.gguf'));
});
afterAll(async () => {
  native.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('the tiny chat model under llama.cpp', () => {
  const text = 'héllo wörld 😀\n\t{"a": 1} 你好 \u0001 the model forever';
  const speak = (name: string, prompts: readonly string[], limit = 300): Promise<Spoken> => {
    return native.result<Spoken>('speak', at(name), { prompts, limit, text });
  };

  it('ends its turn by itself, after a full stop', async () => {
    const { answers } = await speak('chat.gguf', ['hi', 'Say hello', 'question number 9']);
    for (const answer of answers) {
      expect(answer.ended).toBe(true);
      expect(answer.text).toMatch(/^[ ,.a-z]+\.$/);
    }
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(3);
  });

  it('never ends its turn when "forever" stands in the prompt', async () => {
    const { answers } = await speak('chat.gguf', ['go on forever', 'forever and ever']);
    expect(answers.map(({ ended, tokens }) => [ended, tokens])).toEqual([
      [false, 300],
      [false, 300],
    ]);
    // Not one token repeated: at least a dozen different words.
    expect(new Set(answers[0]?.text.split(' ')).size).toBeGreaterThan(12);
  });

  it('gives any text back from its tokens', async () => {
    expect((await speak('chat.gguf', ['hi'], 1)).roundTrip).toBe(text);
  });

  it('has relatives whose memory cannot be cut back', async () => {
    await writeTinySlidingWindow(at('window.gguf'));
    await writeTinyRecurrent(at('recurrent.gguf'));
    expect((await speak('chat.gguf', ['hi'], 1)).needsCheckpoints).toBe(false);
    expect((await speak('window.gguf', ['hi'], 20)).needsCheckpoints).toBe(true);
    const recurrent = await speak('recurrent.gguf', ['hi', 'tell me a story'], 20);
    expect(recurrent.needsCheckpoints).toBe(true);
    expect(recurrent.answers[0]?.text).not.toBe(recurrent.answers[1]?.text);
  });

  it('loads with another template and with none', async () => {
    await writeTinyChat(at('bare.gguf'), { chatTemplate: null });
    await writeTinyChat(at('other.gguf'), { chatTemplate: '{{ messages[0].content }}' });
    for (const name of ['bare.gguf', 'other.gguf'])
      expect(await native.result('probe', at(name))).toBe('loaded');
    expect((await inspectGguf(at('bare.gguf'))).chatTemplate).toBeUndefined();
    expect((await inspectGguf(at('other.gguf'))).chatTemplate).toBe('{{ messages[0].content }}');
  });
});

describe('the tiny embedding model under llama.cpp', () => {
  it('gives 768 finite numbers, closer for texts that share words', async () => {
    const texts = ['the cat sat on the mat', 'a cat on a mat', 'quantum chromodynamics'];
    const vectors = await native.result<number[][]>('embed', at('embed.gguf'), { texts });
    for (const vector of vectors) {
      expect(vector).toHaveLength(768);
      expect(vector.every(Number.isFinite)).toBe(true);
    }
    const [cat = [], mat = [], physics = []] = vectors;
    expect(cosine(cat, mat)).toBeGreaterThan(cosine(cat, physics) + 0.2);
  });
});

describe('our reader beside the library', () => {
  it('knows exactly the tensor types that the bound library knows', async () => {
    const codes = Array.from({ length: 43 }, (_, code) => code);
    const known = await native.result<[number, number, number][]>('types', '', { codes });
    const ours = codes.map((code) => {
      const type = TENSOR_TYPES_BY_CODE.get(code);
      return [code, type?.blockSize ?? 0, type?.blockBytes ?? 0];
    });
    expect(ours).toEqual(known);
  });

  it.each(['chat.gguf', 'embed.gguf'])('reads the same facts from %s', async (name) => {
    const theirs = await native.result<Record<string, unknown>>('describe', at(name));
    const { tensorCount, headerBytes: _, ...facts } = theirs;
    expect(await inspectGguf(at(name))).toMatchObject(facts);
    if (name === 'chat.gguf') expect(tensorCount).toBe(tinyChatContent().tensors.length);
    expect(encodeHeader(tinyChatContent()).length % 32).toBe(0);
  });
});

/** Each of these aborts or hangs the process today, or did until recently; the gate is what stands between. */
const KILLERS = ['equal-tokens', 'block-count-0', 'rope-scaling-unknown'];
/** And these the library refuses by itself. */
const REFUSED = [
  'attention-head-count-0',
  'key-length-max',
  'exabyte',
  'short-by-half',
  'no-merges',
  'weights-not-a-number',
  'weights-infinite',
];

describe('broken models without the gate', () => {
  const all = process.env['SVC_LONG_TESTS'] === '1';
  const chosen = brokenGgufs().filter(({ name }) => all || KILLERS.includes(name) || REFUSED.includes(name));

  it('end at worst the process that loads them, and the next good model loads', async () => {
    for (const broken of chosen) {
      const path = at('broken.gguf');
      await writeFile(path, broken.bytes());
      const outcome = await native.ask('probe', path);
      if (KILLERS.includes(broken.name))
        expect([broken.name, outcome.kind]).toEqual([broken.name, expect.stringMatching(/^(?:died|hung)$/)]);
      if (REFUSED.includes(broken.name))
        expect([broken.name, outcome.kind]).toEqual([broken.name, 'refused']);
      // What the gate lets through, the trial load must catch.
      if (broken.passesGate) expect([broken.name, outcome.kind]).toEqual([broken.name, 'refused']);
      if (isOver(outcome)) expect(await native.result('probe', at('chat.gguf'))).toBe('loaded');
    }
    expect(await native.result('probe', at('chat.gguf'))).toBe('loaded');
  }, 600_000);
});

const isOver = ({ kind }: Outcome<unknown>): boolean => kind === 'died' || kind === 'hung';

describe('a child that is busy for too long', () => {
  it('is ended and not called dead, and the next file is loaded', async () => {
    const impatient = new NativeChild(1);
    // A child that answers before this process looks is not late.
    const outcomes = new Set<string>();
    while (!outcomes.has('hung') && outcomes.size < 2)
      outcomes.add((await impatient.ask('probe', at('chat.gguf'))).kind);
    expect([...outcomes].at(-1)).toBe('hung');
    impatient.stop();
    expect(await native.result('probe', at('chat.gguf'))).toBe('loaded');
  });
});

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
  return dot / (Math.hypot(...a) * Math.hypot(...b));
}
