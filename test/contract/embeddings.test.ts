/** POST /v1/embeddings. */
import { describe, expect, it } from 'vitest';
import type { EmbedJob } from '../../src/contract/job.ts';
import { fail } from '../../src/lib/errors/svc-error.ts';
import { started, vectorOf, vectors } from '../support/http/scripted-engine.ts';
import {
  installed,
  type ScriptedOptions,
  scriptedService,
  startScripted,
} from '../support/http/scripted-service.ts';
import { verifies } from './requirements.ts';

const service = scriptedService();
const embed = (fields: object) => service.client.embed(fields);
const job = () => service.engine.lastJob.submission.job as EmbedJob;
const lengthOf = (vector: number[]) => Math.hypot(...vector);

describe('an embedding', () => {
  it('has the shape of the interface, field by field', async () => {
    const { status, headers, body } = await embed({ input: 'one text' });
    verifies(['post-embeddings.request', 'post-embeddings.response'], () => {
      expect(status).toBe(200);
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
      expect(Object.keys(body).sort()).toEqual(['data', 'model', 'object', 'usage']);
    });
    verifies('embedding.object', () => expect(body.object).toBe('list'));
    verifies('embedding.data', () =>
      expect(body.data).toEqual([
        { object: 'embedding', index: 0, embedding: Array.from(vectorOf('one text')) },
      ]),
    );
    verifies('embedding.model', () => expect(body.model).toBe(installed.embedding));
    verifies('embedding.usage', () => expect(body.usage).toEqual({ prompt_tokens: 2, total_tokens: 2 }));
  });

  it('is 768 numbers of length one', async () => {
    const [item] = (await embed({ input: 'x' })).body.data;
    verifies(['embeddings.width', 'limits.width', 'embedding.data'], () =>
      expect(item.embedding).toHaveLength(768),
    );
    expect(
      item.embedding.every((value: unknown) => typeof value === 'number' && Number.isFinite(value)),
    ).toBe(true);
    expect(lengthOf(item.embedding)).toBeCloseTo(1, 5);
  });

  it('comes for each input of a list, in the order of the inputs', async () => {
    // The scripted engine delivers the last vector first.
    const input = ['a', 'b', 'c', 'a'];
    const { body } = await embed({ input });
    verifies('embedding.data', () =>
      expect(body.data.map(({ index }: { index: number }) => index)).toEqual([0, 1, 2, 3]),
    );
    verifies(['embedding-request.input', 'embeddings.width'], () => {
      for (const [index, text] of input.entries())
        expect(body.data[index].embedding).toEqual(Array.from(vectorOf(text)));
    });
    expect(body.usage).toEqual({ prompt_tokens: 8, total_tokens: 8 });
  });

  it('is base64 of little-endian float32 when asked, and equal to the numbers', async () => {
    const [floats] = (await embed({ input: 'x', encoding_format: 'float' })).body.data;
    const [base64] = (await embed({ input: 'x', encoding_format: 'base64' })).body.data;
    const bytes = Buffer.from(base64.embedding, 'base64');
    expect(bytes).toHaveLength(768 * 4);
    const decoded = Array.from({ length: 768 }, (_, at) => bytes.readFloatLE(at * 4));
    expect(decoded).toEqual(floats.embedding);
  });

  it('may be asked for with dimensions 768, null, or none', async () => {
    for (const dimensions of [768, null]) {
      const { status, headers } = await embed({ input: 'x', dimensions });
      expect([status, headers['x-svc-ignored-params']]).toEqual([200, undefined]);
    }
  });

  it('flags an input that was cut, when cutting was asked for', async () => {
    service.engine.plays([
      started(512),
      { type: 'embedding', index: 0, vector: vectorOf('long'), tokens: 512, truncated: true },
      { type: 'embedding', index: 1, vector: vectorOf('short'), tokens: 2, truncated: false },
      { type: 'embedded', totalTokens: 514 },
    ]);
    const { body } = await embed({ input: ['long', 'short'], truncate: true });
    expect(job().truncate).toBe(true);
    expect(body.data.map((item: object) => 'truncated' in item)).toEqual([true, false]);
  });

  it('is never cut unasked: an input that is too long is a 400 with index and both numbers', async () => {
    const tooLong = (index: number) =>
      fail('input_too_long', { index, tokens: 900, limit: 512, param: `input[${index}]` });
    service.engine.plays([tooLong(1)]);
    const { status, body } = await embed({ input: ['short', 'long'] });
    expect(job().truncate).toBe(false);
    verifies('post-embeddings.errors', () =>
      expect([status, body.code, body.param]).toEqual([400, 'input_too_long', 'input[1]']),
    );
    expect(body.error).toMatch(/^input\[1\] is 900 tokens long; .* 512/);
    // A text that is the whole input has no index.
    service.engine.plays([tooLong(0)]);
    const alone = (await embed({ input: 'long' })).body;
    expect([alone.param, alone.error]).toEqual(['input', expect.stringMatching(/^input is 900 tokens long/)]);
  });

  it('of a text without anything to read is a 400 that names it', async () => {
    service.engine.plays([fail('input_unreadable', { index: 1, param: 'input[1]' })]);
    const { status, body } = await embed({ input: ['short', '\u0000'] });
    expect([status, body.code, body.param]).toEqual([400, 'input_unreadable', 'input[1]']);
  });

  it('names the model by id or by the alias default-embedding', async () => {
    for (const model of ['tiny-embed', 'default-embedding', 'Tiny-Embed:latest']) {
      const { body } = await embed({ model, input: 'x' });
      const { target } = service.engine.lastJob.submission;
      verifies('embedding-request.model', () => expect(target.modelId).toBe('tiny-embed'));
      verifies('embedding.model', () => expect(body.model).toBe('tiny-embed'));
    }
  });

  it('comes for a text of white space too, as it stands', async () => {
    const { status } = await embed({ input: ['a', ' \n\t', '\u3000'] });
    expect([status, job().inputs]).toEqual([200, ['a', ' \n\t', '\u3000']]);
  });

  it('has lone surrogates replaced before it reaches the engine', async () => {
    await embed({ input: 'a\ud800b' });
    expect(job().inputs).toEqual(['a\ufffdb']);
  });

  it('takes 2048 inputs at once', async () => {
    const input = Array.from({ length: 2048 }, (_, index) => `text ${index}`);
    const { status, body } = await service.client.embed({ input, encoding_format: 'base64' });
    expect([status, body.data.length]).toEqual([200, 2048]);
  });

  it('fails whole when the engine loses a vector', async () => {
    service.engine.plays(vectors(['a', 'b']).slice(1));
    const { status, body } = await embed({ input: ['a', 'b', 'c'] });
    expect([status, body.code]).toEqual([500, 'internal']);
  });

  it('is a job of its own, even under a request id that the client repeats', async () => {
    for (let i = 0; i < 2; i += 1) await service.client.embed({ input: 'x' }, { 'x-request-id': 'mine' });
    const ids = service.engine.played.slice(-2).map(({ submission }) => submission.job.jobId);
    expect(new Set(ids).size).toBe(2);
  });

  it('names the fields that had no effect', async () => {
    const { headers } = await embed({ input: 'x', user: 'u', encoding_format: 'float' });
    expect(headers['x-svc-ignored-params']).toBe('user');
  });
});

describe('the headers of an embedding', () => {
  it('say that native code made it', async () => {
    const { headers } = await embed({ input: 'x' });
    verifies(['embeddings.backend-header', 'post-embeddings.response'], () =>
      expect(headers['x-svc-embed-backend']).toBe('native'),
    );
  });

  it('name its space: the same for the same model, whatever the input or its encoding', async () => {
    const spaces = new Set<unknown>();
    for (const fields of [{ input: 'a' }, { input: ['b', 'c'] }, { input: 'a', encoding_format: 'base64' }])
      spaces.add((await embed(fields)).headers['x-svc-embedding-space']);

    expect(spaces.size).toBe(1);
    expect([...spaces][0]).toMatch(/^space-[0-9a-f]{32}$/);
  });
});

describe('the feature-hash fallback', () => {
  const served = async (options: ScriptedOptions, fields: object) => {
    const other = await startScripted(options);
    try {
      return await other.client.embed({ input: ['x', 'y'], ...fields });
    } finally {
      await other.close();
    }
  };
  const hashModel = { model: 'feature-hash-768' };

  it('is not there without its setting', async () => {
    for (const fields of [hashModel, {}]) {
      const { status, headers, body } = await served({ models: false }, fields);
      verifies(['embeddings.fallback', 'errors.404'], () =>
        expect([status, headers['x-svc-embed-backend']]).toEqual([404, undefined]),
      );
      expect(body.error).toMatch(
        fields === hashModel
          ? /set SVC_ALLOW_HASH_EMBEDDINGS=1 and restart hearth serve\.$/
          : /^No default embedding model is installed; run: hearth restore hearth-embed\.$/,
      );
    }
    expect((await service.client.embed({ input: 'x', ...hashModel })).status).toBe(404);
  });

  it('serves its own id, and the default model when no native one is installed', async () => {
    const allowed = { models: false, allowHashEmbeddings: true };
    for (const fields of [hashModel, {}]) {
      const { status, headers, body } = await served(allowed, fields);
      verifies(['embeddings.fallback', 'embeddings.backend-header'], () =>
        expect([status, headers['x-svc-embed-backend']]).toEqual([200, 'feature-hash']),
      );
      expect(headers['x-svc-embedding-space']).toBe('feature-hash-768@1');
      expect(body.model).toBe('feature-hash-768');
      const made: number[][] = body.data.map(({ embedding }: { embedding: number[] }) => embedding);
      verifies('embeddings.width', () => expect(made.map(({ length }) => length)).toEqual([768, 768]));
      for (const vector of made) expect(lengthOf(vector)).toBeCloseTo(1, 5);
      expect(body.usage.prompt_tokens).toBe(2);
    }
  });

  it('stays 404 for any other unknown id', async () => {
    const { status, body } = await served({ allowHashEmbeddings: true }, { model: 'nobody' });
    expect(status).toBe(404);
    expect(body.error).toContain('use "default-embedding", choose one');
  });

  it('does not stand in while the native model can run', async () => {
    const { headers, body } = await served({ allowHashEmbeddings: true }, {});
    verifies('embeddings.backend-header', () =>
      expect([headers['x-svc-embed-backend'], body.model]).toEqual(['native', installed.embedding]),
    );
  });

  it('stands in for a default model that cannot run at all, for the whole answer', async () => {
    const other = await startScripted({ allowHashEmbeddings: true });
    const refuse = fail('native_unavailable', { reason: 'none is installed' });
    for (const model of ['default-embedding', installed.embedding]) {
      other.engine.plays([refuse]);
      const { status, headers } = await other.client.embed({ model, input: ['x', 'y'] });
      expect([status, headers['x-svc-embed-backend']]).toEqual([200, 'feature-hash']);
    }
    await other.close();
  });

  it('never completes an answer that native code began: a crash is an error', async () => {
    const other = await startScripted({ allowHashEmbeddings: true });
    other.engine.plays([
      ...vectors(['x', 'y']).slice(0, 2),
      fail('worker_crashed', { model: installed.embedding, reason: 'signal SIGSEGV' }),
    ]);
    const { status, headers } = await other.client.embed({ input: ['x', 'y'] });
    await other.close();
    expect([status, headers['x-svc-embed-backend']]).toEqual([503, undefined]);
  });
});
