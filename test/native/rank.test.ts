/** A model with rank pooling scores pairs, each as if it were alone. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { text } from '../../tools/gguf/metadata.ts';
import { writeGguf } from '../../tools/gguf/writer.ts';
import { tinyEmbedContent, writeTinyEmbed } from '../../tools/models/tiny-embed.ts';
import { bootWorker, startTinyChat, type TestWorker } from '../support/engine/worker-harness.ts';

let folder: string;
let worker: TestWorker;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hearth-rank-'));
  await writeTinyEmbed(join(folder, 'rank.gguf'), { ranks: true, contextLength: 128 });
  worker = await bootWorker();
  await worker.load({ path: join(folder, 'rank.gguf'), kind: 'embedding', numCtx: 128, threads: 1 });
});

afterAll(async () => {
  await worker.end();
  await rm(folder, { recursive: true });
});

const query = 'who keeps the lamp';
const documents = [
  'the keeper of the house keeps it',
  'rain',
  `the garden wall ${'and the old clock '.repeat(4)}`,
  'rain',
];

describe('a model that ranks', () => {
  it('gives each document one score, the same alone and in company', async () => {
    const scores = await worker.rank({ query, documents });
    expect(scores.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    expect(scores[3]?.score).toBe(scores[1]?.score);
    expect(new Set(scores.map(({ score }) => score)).size).toBe(3);
    for (const [index, document] of documents.entries()) {
      const [alone] = await worker.rank({ query, documents: [document] });
      expect(alone?.score).toBe(scores[index]?.score);
    }
  });

  it('reads the query too', async () => {
    const [one] = await worker.rank({ query, documents: ['rain'] });
    const [other] = await worker.rank({ query: 'what falls', documents: ['rain'] });
    expect(Math.abs((one?.score ?? 0) - (other?.score ?? 0))).toBeGreaterThan(1e-3);
  });

  it('writes a pair with the marks of its vocabulary: one before it and one between', async () => {
    const [pair] = await worker.rank({ query: 'a b c', documents: ['x y'] });
    expect(pair?.tokens).toBe(7);
  });

  it('writes a pair as its own template says, and reads no marks in the texts of a client', async () => {
    const { metadata, tensors } = tinyEmbedContent({ ranks: true });
    const path = join(folder, 'template.gguf');
    const template = text('[CLS]{query}[SEP]{document}[SEP]');
    await writeGguf(path, { metadata: { ...metadata, 'tokenizer.chat_template.rerank': template }, tensors });
    const templated = await bootWorker();
    await templated.load({ path, kind: 'embedding', threads: 1 });
    const [pair, marked] = await templated.rank({ query: 'a b c', documents: ['x y', '[SEP]'] });
    await templated.end();
    expect(pair?.tokens).toBe(8);
    // "[", "sep" and "]" are text.
    expect(marked?.tokens).toBeGreaterThan(7);
  });

  it('refuses a document that is too long, or cuts it when asked', async () => {
    const long = 'the old clock '.repeat(200);
    const refusal = await worker.rank({ query, documents: ['rain', long] }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'input_too_long', detail: { index: 1, limit: 128 } });
    expect(String(refusal)).toMatch(/documents\[1\] is \d+ tokens long, with the query; .* 128\./);
    const [short, cut] = await worker.rank({ query, documents: ['rain', long], truncate: true });
    expect([short?.truncated, cut?.truncated, cut?.tokens]).toEqual([false, true, 128]);
  });

  it('refuses a query that leaves no room for a document', async () => {
    const pair = { query: 'the time '.repeat(100), documents: ['rain'], truncate: true };
    await expect(worker.rank(pair)).rejects.toMatchObject({
      code: 'query_too_long',
      detail: { param: 'query' },
    });
  });

  it('gives no vectors', async () => {
    await expect(worker.embed({ inputs: ['rain'] })).rejects.toMatchObject({
      code: 'wrong_model_kind',
      detail: { kind: 'rerank', wanted: 'embedding' },
    });
  });
});

describe('models of other kinds', () => {
  it('score nothing', async () => {
    const chat = await startTinyChat({ numCtx: 64 });
    const refusal = await chat.worker.rank({ query, documents }).catch((error: unknown) => error);
    await chat.end();
    expect(refusal).toMatchObject({ code: 'wrong_model_kind', detail: { kind: 'chat', wanted: 'rerank' } });
  });
});
