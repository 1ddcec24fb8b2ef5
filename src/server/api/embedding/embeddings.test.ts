import { describe, expect, it } from 'vitest';
import type { ServedModel } from '../models/served-model.ts';
import { embed, type EmbeddingPorts } from './embeddings.ts';

const unused = (): never => {
  throw new Error('the fallback asks no model and no engine');
};
const ports: EmbeddingPorts = {
  models: { resolve: unused, defaultId: unused },
  engine: { submit: unused },
  options: { allowHashEmbeddings: true, strictParams: false },
};

describe('the feature-hash fallback', () => {
  it('hashes large texts in turns with everything else, and stops when the client has left', async () => {
    const leaving = new AbortController();
    setImmediate(() => leaving.abort());
    const body = { model: 'feature-hash-768', input: ['some words '.repeat(50_000)] };
    const caller = { requestId: 'r', clientKey: 'c', owner: 'o', clientName: '', signal: leaving.signal };
    await expect(embed(ports, body, caller)).rejects.toMatchObject({ code: 'cancelled' });
  });
});

const served = (fields: Partial<ServedModel>): ServedModel =>
  ({
    id: 'vectors',
    name: null,
    architecture: 'bert',
    pooling: 'mean',
    embeddingWidth: 3,
    digest: 'd',
    defaults: { keepAlive: null },
    target: () => ({}),
    ...fields,
  }) as unknown as ServedModel;

/** The vectors of a model whose engine gives [0.6, 0.8, 0] for every input. */
const answer = (model: Partial<ServedModel>, dimensions?: number) =>
  embed(
    {
      ...ports,
      models: { resolve: async () => served(model), defaultId: async () => null },
      engine: {
        submit: (_, __, listener) =>
          queueMicrotask(() => {
            const vector = Float32Array.of(0.6, 0.8, 0);
            listener.onEvent({ type: 'embedding', index: 0, vector, tokens: 1, truncated: false });
            listener.onEvent({ type: 'embedded', totalTokens: 1 });
            listener.onEnd(null);
          }),
      },
    },
    { model: 'vectors', input: 'x', ...(dimensions === undefined ? {} : { dimensions }) },
    { requestId: 'r', clientKey: 'c', owner: 'o', clientName: '', signal: new AbortController().signal },
  );

describe('a model of another width', () => {
  it('gives as many numbers as the interface promises, and its own when asked, in another space', async () => {
    const usual = await answer({});
    const own = await answer({}, 3);
    expect(usual.body.data[0]?.embedding).toHaveLength(768);
    expect([...(usual.body.data[0]?.embedding ?? [])].slice(0, 3)).toEqual(
      Array.from(Float32Array.of(0.6, 0.8, 0)),
    );
    expect(own.body.data[0]?.embedding).toHaveLength(3);
    expect(own.space).not.toBe(usual.space);
  });

  it('is asked for its width where it has more numbers and cannot be cut', async () => {
    await expect(answer({ embeddingWidth: 1024 })).rejects.toMatchObject({
      code: 'embedding_width',
      message: expect.stringContaining('set dimensions to 1024,'),
    });
  });

  it('gives no vectors where it ranks pairs', async () => {
    await expect(answer({ pooling: 'rank' })).rejects.toMatchObject({ code: 'wrong_model_kind' });
  });
});
