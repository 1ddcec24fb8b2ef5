import { describe, expect, it } from 'vitest';
import { answerWidth, fitted } from './width.ts';

const model = (embeddingWidth: number, id = 'some-model') => ({
  id,
  name: null,
  architecture: 'bert',
  embeddingWidth,
});

const set = (embeddingWidth: number, dimensions: number | 'native') => ({
  ...model(embeddingWidth),
  defaults: { dimensions },
});

describe('answerWidth', () => {
  it.each([
    ['a model of the width of the interface', model(768), null, 768],
    ['a narrower model', model(384), null, 768],
    ['a narrower model by its own width', model(384), 384, 384],
    ['a narrower model by the width of the interface', model(384), 768, 768],
    ['a wider model by its own width', model(1024), 1024, 1024],
    ['a wider model that was trained to be cut', model(1024, 'qwen3-embedding-0.6b'), null, 768],
    ['such a model, cut further', model(1024, 'qwen3-embedding-0.6b'), 256, 256],
    ['a model that only its file names so', { ...model(768), name: 'EmbeddingGemma 300M' }, 128, 128],
    ['a narrower model set to its own width', set(384, 'native'), null, 384],
    ['a wider model set to its own width', set(1024, 'native'), null, 1024],
    ['what a request says before what is set', set(384, 'native'), 768, 768],
    ['a cut that was set', { ...set(1024, 256), name: 'mxbai-embed-large' }, null, 256],
    ['a narrower model that was trained to be cut', model(384, 'mxbai-embed-xsmall-v1'), 64, 64],
  ])('takes %s', (_, served, dimensions, width) => {
    expect(answerWidth(served, dimensions)).toBe(width);
  });

  it.each([
    [
      'a wider model without a width',
      model(1024),
      null,
      'no vectors of 768 numbers; set dimensions to 1024,',
    ],
    [
      'a cut for which it was not trained',
      model(768),
      256,
      'dimensions is 256; for model "some-model" set it to 768,',
    ],
    [
      'zeros beyond the width of the interface',
      model(384),
      1024,
      'dimensions is 1024; for model "some-model" set it to 384 or 768,',
    ],
    ['zeros short of it', model(384), 512, 'dimensions is 512; for model "some-model" set it to 384 or 768,'],
    ['no numbers at all', model(384), 0, 'dimensions is 0; for model "some-model" set it to 384 or 768,'],
    ['fewer than none', model(384), -1, 'dimensions is -1; for model "some-model" set it to 384 or 768,'],
    ['one number too many', model(768), 769, 'dimensions is 769; for model "some-model" set it to 768,'],
    ['a cut to next to nothing', model(1024, 'qwen3-embedding-0.6b'), 8, 'to a number from 64 to 1024,'],
    [
      'the same of a narrower one',
      model(384, 'mxbai-embed-xsmall-v1'),
      500,
      'to a number from 64 to 384, or 768,',
    ],
  ])('refuses %s, and names every width that it has', (_, served, dimensions, words) => {
    expect(() => answerWidth(served, dimensions)).toThrow(
      expect.objectContaining({
        code: 'embedding_width',
        message: expect.stringContaining(words),
        detail: expect.objectContaining({ param: 'dimensions' }),
      }),
    );
  });
});

describe('the families of docs/embeddings.md', () => {
  it.each([
    'Qwen3-Embedding-4B',
    'embeddinggemma-300m-qat',
    'nomic-embed-text-v1.5',
    'nomic-embed-text-v2-moe',
    'mxbai-embed-large-v1',
    'snowflake-arctic-embed-l-v2.0',
    'snowflake-arctic-embed-m-v2.0',
    'jina-embeddings-v3',
    'jina-embeddings-v4-text-retrieval',
  ])('cuts %s', (id) => {
    expect(answerWidth(model(2048, id), null)).toBe(768);
  });

  it.each([
    'bge-large-en-v1.5',
    'bge-m3',
    'multilingual-e5-large',
    'gte-large',
    'nomic-embed-text-v1',
    'snowflake-arctic-embed-l',
    'jina-embeddings-v2-base-en',
    'Qwen3-0.6B',
  ])('never cuts %s', (id) => {
    expect(() => answerWidth(model(2048, id), null)).toThrow(/set dimensions to 2048,/);
  });
});

describe('fitted', () => {
  it('puts zeros behind a narrower vector, which change no distance', () => {
    expect(fitted(Float32Array.of(0.6, 0.8), 4)).toEqual(Float32Array.of(0.6, 0.8, 0, 0));
  });

  it('cuts a wider one and makes it a unit vector again', () => {
    expect(fitted(Float32Array.of(3, 4, 12), 2)).toEqual(Float32Array.of(0.6, 0.8));
  });
});
