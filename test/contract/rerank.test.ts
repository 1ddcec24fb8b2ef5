/** POST /v1/rerank. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JobEvent } from '../../src/contract/job-event.ts';
import { fail } from '../../src/lib/errors/svc-error.ts';
import { importFile } from '../../src/store/install/import.ts';
import { writeTinyEmbed } from '../../tools/models/tiny-embed.ts';
import { vectorOf } from '../support/http/scripted-engine.ts';
import { installed, scriptedService } from '../support/http/scripted-service.ts';
import { verifies } from './requirements.ts';

const service = scriptedService();
const rerank = (fields: object) => service.client.post('/v1/rerank', { query: 'a', ...fields });
const LIST = 'a list of 1 to 1024 strings';
const dot = (one: string, other: string) =>
  vectorOf(one).reduce((sum, x, at) => sum + x * (vectorOf(other)[at] ?? 0), 0);

describe('documents without a reranker', () => {
  it('are ordered by the cosine of their vectors', async () => {
    const { status, body, headers } = await rerank({ documents: ['x', { text: 'a' }, 'y'] });
    verifies('rerank.cosine', () => {
      expect([status, headers['x-svc-rerank-backend'], body.model]).toEqual([
        200,
        'native',
        installed.embedding,
      ]);
      expect(body.results[0].index).toBe(1);
      expect(body.results[0].relevance_score).toBeCloseTo(1, 5);
    });
    const [first, second] = dot('a', 'x') >= dot('a', 'y') ? [0, 2] : [2, 0];
    expect(body.results.slice(1).map(({ index }: { index: number }) => index)).toEqual([first, second]);
    expect(headers['x-svc-boot-id']).toBe(service.bootId);
  });

  it('come with their texts, and the best alone, when asked', async () => {
    const { body } = await rerank({ documents: ['x', 'a'], top_n: 1, return_documents: true });
    verifies('rerank.documents', () => {
      expect(body.results).toHaveLength(1);
      expect(body.results[0].document).toEqual({ text: 'a' });
    });
  });

  it('are flagged where they were cut, and all of them where the query was', async () => {
    const cut = (...places: number[]): JobEvent[] => [
      ...['a', 'x', 'y'].map((text, index): JobEvent => {
        const truncated = places.includes(index);
        return { type: 'embedding', index, vector: vectorOf(text), tokens: 2, truncated };
      }),
      { type: 'embedded', totalTokens: 6 },
    ];
    const flagged = async () => {
      const { body } = await rerank({ documents: ['x', 'y'], truncate: true });
      return body.results.flatMap((each: { index: number }) => ('truncated' in each ? [each.index] : []));
    };
    service.engine.plays(cut(2));
    expect(await flagged()).toEqual([1]);
    expect(service.engine.lastJob.submission.job).toMatchObject({ truncate: true });
    service.engine.plays(cut(0));
    expect((await flagged()).sort()).toEqual([0, 1]);
    service.engine.plays(cut());
    expect(await flagged()).toEqual([]);
  });

  it.each<[string, object, string, string]>([
    ['no documents', {}, 'documents', 'documents is required; add it to the request.'],
    ['an empty list', { documents: [] }, 'documents', `must not be an empty array; send ${LIST}.`],
    ['documents that are text', { documents: 'x' }, 'documents', `documents must be an array; send ${LIST}.`],
    [
      'documents that are null',
      { documents: null },
      'documents',
      `documents must be an array; send ${LIST}.`,
    ],
    ['an empty document', { documents: ['x', ''] }, 'documents[1]', 'leave empty texts out'],
    ['a document without text', { documents: [{}] }, 'documents[0]', 'or an object with a string text'],
    ['a document that is a number', { documents: [5] }, 'documents[0]', 'or an object with a string text'],
    ['a document that is null', { documents: [null] }, 'documents[0]', 'or an object with a string text'],
    [
      'too many documents',
      { documents: Array.from({ length: 1025 }, () => 'x') },
      'documents',
      'documents has 1025 items; send at most 1024 per request.',
    ],
    [
      'an empty text of a document',
      { documents: ['x', { text: '' }] },
      'documents[1]',
      'leave empty texts out',
    ],
    ['an empty query', { documents: ['x'], query: '' }, 'query', 'query must not be empty; send the text'],
    [
      'a query that is a number',
      { documents: ['x'], query: 5 },
      'query',
      'query must be a string; send the text',
    ],
    [
      'a query of too many bytes',
      { documents: ['x'], query: 'ü'.repeat(524_289) },
      'query',
      'query is larger than 1048576 bytes; shorten it.',
    ],
    [
      'a document of too many bytes',
      { documents: [{ text: 'ü'.repeat(524_289) }] },
      'documents[0]',
      'documents[0] is larger than 1048576 bytes; split it.',
    ],
    ['a top_n of 0', { documents: ['x'], top_n: 0 }, 'top_n', 'top_n must be at least 1.'],
  ])(
    '%s is a 400 that names the field and says what to send, and no job',
    async (_, fields, param, words) => {
      const before = service.engine.played.length;
      const { status, body } = await rerank(fields);
      expect([status, body.param, service.engine.played.length]).toEqual([400, param, before]);
      expect(body.error).toContain(words);
    },
  );

  it.each([
    ['the query', 0, 'query'],
    ['a document', 2, 'documents[1]'],
  ])('name %s where it is too long', async (_, index, param) => {
    service.engine.plays([
      fail('input_too_long', { index, tokens: 900, limit: 512, param: `input[${index}]` }),
    ]);
    const { status, body } = await rerank({ documents: ['x', 'y'] });
    expect([status, body.code, body.param]).toEqual([400, 'input_too_long', param]);
    expect(body.error).toContain(`${param} is 900 tokens long`);
  });

  it('are compared in the width of the model, whatever answers of embeddings have', async () => {
    const vector = (x: number, y: number) =>
      Float32Array.from({ length: 1024 }, (__, at) => (at < 1000 ? 0 : at % 2 ? x : y) / Math.sqrt(12));
    const of = (index: number, values: Float32Array): JobEvent => ({
      type: 'embedding',
      index,
      vector: values,
      tokens: 1,
      truncated: false,
    });
    service.engine.plays([
      of(0, vector(1, 0)),
      of(1, vector(0, 1)),
      of(2, vector(1, 0)),
      { type: 'embedded', totalTokens: 3 },
    ]);
    const { body } = await rerank({ documents: ['x', 'y'] });
    expect(body.results.map(({ index }: { index: number }) => index)).toEqual([1, 0]);
    expect(body.results[0].relevance_score).toBeCloseTo(1, 5);
  });

  it('are not ordered by a chat model, nor by one that is not installed', async () => {
    for (const model of [installed.chat, 'default']) {
      const { status, body } = await rerank({ model, documents: ['x'] });
      expect([status, body.code, body.param]).toEqual([400, 'wrong_model_kind', 'model']);
      expect(body.error).toMatch(/cannot serve reranking; choose a rerank or embedding model/);
    }
    expect((await rerank({ model: 'nothing', documents: ['x'] })).status).toBe(404);
  });
});

it('documents are ordered by a reranker that is installed, unless an embedding model is named', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hearth-rerank-'));
  const path = join(folder, 'tiny-rank.gguf');
  await writeTinyEmbed(path, { ranks: true });
  await importFile(service.registry, path, { id: 'tiny-rank' });
  const score = (index: number, value: number, truncated = false): JobEvent => ({
    type: 'score',
    index,
    score: value,
    tokens: 3,
    truncated,
  });
  service.engine.plays([score(1, 2.5), score(0, -1, true), { type: 'ranked', totalTokens: 6 }]);
  const { body, headers } = await rerank({ documents: ['x', 'y'] });
  await expect.poll(() => service.log()).toMatch(/"model":"tiny-rank"[^}]*"promptTokens":6/);
  verifies(['rerank.ranker', 'rerank.results'], () => {
    expect(headers['x-svc-rerank-backend']).toBe('rank');
    expect(service.engine.lastJob.submission.job).toMatchObject({ kind: 'rank', query: 'a' });
    expect(body).toEqual({
      object: 'list',
      model: 'tiny-rank',
      results: [
        { index: 1, relevance_score: 2.5 },
        { index: 0, relevance_score: -1, truncated: true },
      ],
      usage: { prompt_tokens: 6, total_tokens: 6 },
    });
  });
  const named = await rerank({ model: installed.embedding, documents: ['x', 'y'] });
  expect(named.headers['x-svc-rerank-backend']).toBe('native');
  await rm(folder, { recursive: true });
});
