/** Tokens of the real library, by chat and embedding workers, beside answers that run. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeTinyEmbed } from '../../tools/models/tiny-embed.ts';
import { verifies } from '../contract/requirements.ts';
import { bootWorker, startTinyChat, type TestWorker } from '../support/engine/worker-harness.ts';

let chat: Awaited<ReturnType<typeof startTinyChat>>;
let embedder: TestWorker;
let folder: string;

beforeAll(async () => {
  chat = await startTinyChat({ parallel: 1 });
  folder = await mkdtemp(join(tmpdir(), 'hearth-tokens-'));
  await writeTinyEmbed(join(folder, 'embed.gguf'), {});
  embedder = await bootWorker();
  await embedder.load({ path: join(folder, 'embed.gguf'), kind: 'embedding', threads: 1 });
});

afterAll(async () => {
  await Promise.all([chat.end(), embedder.end()]);
  await rm(folder, { recursive: true });
});

const TEXT = 'The old clock, ünïcödé 🜲 and <|im_end|> too.';

describe('the tokens of a chat model', () => {
  it('give the text back', async () => {
    const { tokens } = await chat.worker.tokenize({ text: TEXT });
    const { text } = await chat.worker.detokenize([...tokens]);
    verifies('detokenize.content', () => expect(text).toBe(TEXT));
  });

  it('hold no control token, unless marks are to be read', async () => {
    const mark = '<|im_end|>';
    const plain = await chat.worker.tokenize({ text: mark, withPieces: true });
    const special = await chat.worker.tokenize({ text: mark, parseSpecial: true, withPieces: true });
    verifies('tokenize.plain', () => {
      expect(plain.tokens.length).toBeGreaterThan(1);
      expect(plain.pieces?.join('')).toBe(mark);
      expect([special.tokens.length, special.pieces]).toEqual([1, [mark]]);
    });
  });

  it('come as pieces, parts of a character as bytes', async () => {
    const { tokens, pieces } = await chat.worker.tokenize({ text: '🜲', withPieces: true });
    const bytes = (pieces ?? []).flatMap((piece) =>
      typeof piece === 'string' ? [...Buffer.from(piece)] : piece,
    );
    verifies('tokenize.pieces', () => {
      expect(pieces).toHaveLength(tokens.length);
      expect(Buffer.from(bytes).toString()).toBe('🜲');
      expect(pieces?.some(Array.isArray)).toBe(true);
    });
  });

  it('are told while the only slot is busy', async () => {
    const answer = chat.worker.generate({ maxTokens: 400, sampling: { temperature: 1, seed: 1 } });
    let isOver = false;
    void answer.then(() => (isOver = true));
    await chat.worker.tokenize({ text: TEXT });
    verifies('tokens.no-slot', () => expect(isOver).toBe(false));
    await answer;
  });

  it('are refused where the vocabulary ends', async () => {
    const refusal = await chat.worker.detokenize([1, 2 ** 30]).catch((error: unknown) => error);
    verifies('detokenize.known', () =>
      expect(refusal).toMatchObject({ code: 'invalid_request', detail: { param: 'tokens[1]' } }),
    );
  });
});

describe('the tokens of an embedding model', () => {
  it('stand between its own marks when asked', async () => {
    const { tokens } = await embedder.tokenize({ text: 'the old clock' });
    const all = await embedder.tokenize({ text: 'the old clock', addSpecial: true, withPieces: true });
    verifies('tokenize.special', () => {
      expect([...all.tokens].slice(1, -1)).toEqual([...tokens]);
      expect([all.pieces?.[0], all.pieces?.at(-1)]).toEqual(['[CLS]', '[SEP]']);
    });
    const { text } = await embedder.detokenize([...tokens]);
    expect(text).toBe('the old clock');
  });
});

describe('an answer', () => {
  const ask = { prompt: { kind: 'text', text: 'The old clock' } } as const;

  it('to tokens is the one to their text', async () => {
    const { tokens } = await chat.worker.tokenize({ text: ask.prompt.text, addSpecial: true });
    const [one, other] = [
      await chat.worker.generate(ask),
      await chat.worker.generate({ prompt: { kind: 'tokens', tokens: [...tokens] } }),
    ];
    expect(other.text).toBe(one.text);
    expect(other.done.usage.promptTokens).toBe(one.done.usage.promptTokens);
  });

  it('does not end where no token may end it', async () => {
    const limit = { ...ask, maxTokens: 200 };
    const ends = await chat.worker.generate(limit);
    const goesOn = await chat.worker.generate({ ...limit, ignoresEnd: true });
    expect([ends.done.finishReason, goesOn.done.finishReason]).toEqual(['stop', 'length']);
    expect(goesOn.text.startsWith(ends.text)).toBe(true);
  });

  it('holds no word that is forbidden by its text', async () => {
    const { text } = await chat.worker.generate(ask);
    const [word = ''] = /[a-z]{3,}/.exec(text) ?? [];
    expect(word).not.toBe('');
    const without = await chat.worker.generate({ ...ask, biasedTexts: [[` ${word}`, -100]] });
    expect(without.text).not.toBe(text);
  });
});
