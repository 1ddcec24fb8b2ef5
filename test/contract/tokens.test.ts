/** POST /v1/tokenize and /v1/detokenize. */
import { describe, expect, it } from 'vitest';
import type { TokenizeJob } from '../../src/contract/job.ts';
import { installed, scriptedService } from '../support/http/scripted-service.ts';
import { verifies } from './requirements.ts';

const service = scriptedService();
const tokenize = (fields: object) => service.client.post('/v1/tokenize', { model: 'default', ...fields });
const detokenize = (fields: object) => service.client.post('/v1/detokenize', { model: 'default', ...fields });
const job = () => service.engine.lastJob.submission.job as TokenizeJob;

describe('a text as tokens', () => {
  it('is listed with its count and the model', async () => {
    const { status, body, headers } = await tokenize({ input: 'abc' });
    verifies('tokenize.tokens', () => {
      expect(status).toBe(200);
      expect(body).toEqual({ model: installed.chat, count: 3, tokens: [97, 98, 99] });
    });
    expect(headers['x-svc-boot-id']).toBe(service.bootId);
    expect((await tokenize({ input: '' })).body).toMatchObject({ count: 0, tokens: [] });
  });

  it('is sent under one of three names', async () => {
    for (const name of ['input', 'content', 'prompt']) {
      const { body } = await tokenize({ [name]: 'a' });
      verifies('tokenize.names', () => expect(body.tokens).toEqual([97]));
    }
  });

  it('has options that are off unless asked for', async () => {
    await tokenize({ input: 'a\ud800' });
    expect(job()).toMatchObject({
      text: 'a\ufffd',
      addSpecial: false,
      parseSpecial: false,
      withPieces: false,
    });
    await tokenize({ input: 'a', add_special: true, parse_special: true, with_pieces: true, odd: 1 });
    expect(job()).toMatchObject({ addSpecial: true, parseSpecial: true, withPieces: true });
  });

  it('lists pieces when asked', async () => {
    service.engine.plays([{ type: 'tokenized', tokens: Uint32Array.of(5, 6), pieces: ['a', [195]] }]);
    const { body } = await tokenize({ input: 'a', with_pieces: true });
    verifies('tokenize.pieces', () =>
      expect(body.tokens).toEqual([
        { id: 5, piece: 'a' },
        { id: 6, piece: [195] },
      ]),
    );
  });

  it('is told by every kind of model', async () => {
    for (const model of [installed.embedding, installed.slashed, 'default-embedding']) {
      const { status } = await tokenize({ model, input: 'a' });
      verifies('tokens.any-model', () => expect(status).toBe(200));
    }
  });

  it('names fields without effect', async () => {
    expect((await tokenize({ input: 'a', odd: 1 })).headers['x-svc-ignored-params']).toBe('odd');
  });
});

describe('tokens as a text', () => {
  it('are joined', async () => {
    const { status, body } = await detokenize({ tokens: [97, 98] });
    verifies('detokenize.content', () => {
      expect([status, body]).toEqual([200, { model: installed.chat, content: 'ab' }]);
    });
  });
});

it.each<[string, string, object, string]>([
  ['no text', '/v1/tokenize', {}, 'input'],
  ['a null text', '/v1/tokenize', { input: null }, 'input'],
  ['two texts', '/v1/tokenize', { input: 'a', content: 'a' }, 'input'],
  ['a text that is a number', '/v1/tokenize', { input: 5 }, 'input'],
  ['a list of texts', '/v1/tokenize', { input: ['a'] }, 'input'],
  ['a text that is too long', '/v1/tokenize', { input: 'a'.repeat(256 * 1024 + 1) }, 'input'],
  ['an option that is text', '/v1/tokenize', { input: 'a', parse_special: 'yes' }, 'parse_special'],
  ['a keep_alive that is no duration', '/v1/tokenize', { input: 'a', keep_alive: 'soon' }, 'keep_alive'],
  ['no tokens', '/v1/detokenize', {}, 'tokens'],
  ['tokens that are text', '/v1/detokenize', { tokens: 'abc' }, 'tokens'],
  ['a negative token', '/v1/detokenize', { tokens: [1, -1] }, 'tokens[1]'],
  ['a token that is a fraction', '/v1/detokenize', { tokens: [0.5] }, 'tokens[0]'],
  ['a huge token', '/v1/detokenize', { tokens: [2 ** 40] }, 'tokens[0]'],
  ['a token that is text', '/v1/detokenize', { tokens: ['a'] }, 'tokens[0]'],
  ['too many tokens', '/v1/detokenize', { tokens: Array.from({ length: 65_537 }, () => 1) }, 'tokens'],
])('%s is a 400 that names the field, and no job', async (_, path, fields, param) => {
  const before = service.engine.played.length;
  const { status, body } = await service.client.post(path, { model: 'default', ...fields });
  expect([status, body.param, service.engine.played.length]).toEqual([400, param, before]);
});

it('a model that is not installed is a 404', async () => {
  expect((await tokenize({ model: 'nothing', input: 'a' })).status).toBe(404);
});
