/** POST /v1/completions, which the interface lists and does not describe. */
import { describe, expect, it } from 'vitest';
import type { GenerateJob } from '../../src/contract/job.ts';
import { fail } from '../../src/lib/errors/svc-error.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { answer, done, gate, started, type Step, text } from '../support/http/scripted-engine.ts';
import { installed, scriptedService } from '../support/http/scripted-service.ts';
import { verifies } from './requirements.ts';

const clock = new ManualClock(1_760_000_000_000);
const service = scriptedService({ clock });
const path = '/v1/completions';
const complete = (fields: object = {}) =>
  service.client.post(path, { model: 'default', prompt: 'Once', ...fields });
const job = () => service.engine.lastJob.submission.job as GenerateJob;

describe('a text completion', () => {
  it('has the usual shape', async () => {
    service.engine.plays(answer(' upon', ' a time'));
    const { status, headers, body } = await complete();
    const { endpoints } = (await service.client.get('/v1/identity')).body;
    verifies('completions.listed', () => expect([endpoints.completions, status]).toEqual([path, 200]));
    expect(body).toMatchObject({ object: 'text_completion', created: 1_760_000_000, model: installed.chat });
    expect(body.id).toMatch(/^cmpl-svc-/);
    expect(body.choices).toEqual([
      { index: 0, text: ' upon a time', finish_reason: 'stop', svc_finish_reason: 'stop', logprobs: null },
    ]);
    expect(body.usage).toMatchObject({ prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 });
    expect(headers['x-svc-num-ctx']).toBe('4096');
  });

  it('reaches the engine as plain text, from a string or an array of one', async () => {
    for (const prompt of ['Once', ['Once']]) {
      await complete({ prompt, max_tokens: 3, stop: ['.', '!'] });
      expect(job().prompt).toEqual({ kind: 'text', text: 'Once' });
      expect([job().maxTokens, job().stop]).toEqual([3, ['.', '!']]);
    }
  });

  it('streams chunks of the same shape, with the true finish reason', async () => {
    service.engine.plays([started(), text(' upon'), text(' a'), done('length')]);
    const body = { model: 'default', prompt: 'Once', stream: true, stream_options: { include_usage: true } };
    const open = await service.client.openStream({ method: 'POST', path, body });
    const { chunks, done: terminated, text: whole } = await open.all();
    expect([whole, terminated]).toEqual([' upon a', true]);
    expect(chunks.at(-2)?.choices[0]).toMatchObject({ text: '', finish_reason: 'length' });
    expect(chunks.at(-2)).toHaveProperty('timings');
    expect(chunks.at(-1)?.choices).toEqual([]);
    expect(chunks.filter((chunk) => 'usage' in chunk)).toEqual([chunks.at(-1)]);
  });

  it('sends the head of a stream before the prompt is evaluated', async () => {
    const prefill = gate();
    service.engine.plays([started(), prefill.opened, text('x'), done()]);
    const body = { model: 'default', prompt: 'Once', stream: true };
    const open = await service.client.openStream({ method: 'POST', path, body });
    expect(open.headers['x-svc-num-ctx']).toBe('4096');
    prefill.open();
    expect((await open.all()).text).toBe('x');
  });

  it('ends a failed stream with an error frame', async () => {
    service.engine.plays([
      started(),
      text('x'),
      fail('worker_hung', { model: 'tiny-chat', reason: 'silent' }),
    ]);
    const body = { model: 'default', prompt: 'Once', stream: true };
    const { error, done: terminated } = await (
      await service.client.openStream({ method: 'POST', path, body })
    ).all();
    expect([error?.code, terminated]).toEqual(['worker_hung', false]);
  });

  it.each([
    ['no prompt', { prompt: undefined }, 'prompt'],
    ['an empty prompt', { prompt: '' }, 'prompt'],
    ['an array of an empty prompt', { prompt: [''] }, 'prompt'],
    ['an empty prompt among others', { prompt: ['a', ''] }, 'prompt'],
    ['too many prompts', { prompt: Array.from({ length: 33 }, () => 'a') }, 'prompt'],
    ['logprobs that are too many', { logprobs: 21 }, 'logprobs'],
    ['logprobs as a boolean', { logprobs: true }, 'logprobs'],
    ['echo as text', { echo: 'yes' }, 'echo'],
    ['no prompt in the array', { prompt: [] }, 'prompt'],
    ['a token among prompts', { prompt: [['a'], 2] }, 'prompt[1]'],
    ['a negative token', { prompt: [-1] }, 'prompt'],
    ['an empty list among prompts', { prompt: [[1], []] }, 'prompt'],
    ['lists in a list of lists', { prompt: [[[1]]] }, 'prompt'],
    ['echo of tokens', { prompt: [1], echo: true }, 'echo'],
    ['a suffix behind tokens', { prompt: [1], suffix: 'x' }, 'suffix'],
    ['a number', { prompt: 7 }, 'prompt'],
    ['a wrong option', { temperature: -1 }, 'temperature'],
  ])('with %s is a 400 that names the field', async (_, fields, param) => {
    const { status, body } = await complete(fields);
    expect(status).toBe(400);
    expect(body.param.startsWith(param)).toBe(true);
  });

  it('continues tokens, one list of them or several', async () => {
    await complete({ prompt: [5, 6] });
    verifies('completions.tokens', () => expect(job().prompt).toEqual({ kind: 'tokens', tokens: [5, 6] }));
    const { body } = await complete({ prompt: [[5], [6, 7]] });
    expect(body.choices).toHaveLength(2);
    expect(job().prompt).toEqual({ kind: 'tokens', tokens: [6, 7] });
  });

  it('fills in between a prompt and a suffix', async () => {
    await complete({ suffix: ' the end.' });
    verifies('completions.suffix', () =>
      expect(job().prompt).toEqual({ kind: 'text', text: 'Once', suffix: ' the end.' }),
    );
    await complete({ suffix: '' });
    expect(job().prompt).toEqual({ kind: 'text', text: 'Once' });
    await complete({ prompt: '', suffix: 'the end.' });
    expect(job().prompt).toEqual({ kind: 'text', text: '', suffix: 'the end.' });
  });

  it('names tokens by their text, and forbids the end', async () => {
    await complete({ logit_bias: { 7: 1, river: -100 }, ignore_eos: true });
    expect(job()).toMatchObject({
      biasedTexts: [['river', -100]],
      ignoresEnd: true,
      sampling: { logitBias: [[7, 1]] },
    });
    const { headers } = await complete({ grammar: 'root ::= "a"', ignore_eos: true });
    expect([headers['x-svc-ignored-params'], job().ignoresEnd]).toEqual(['ignore_eos', undefined]);
  });

  it('continues each of several prompts, and counts each once', async () => {
    service.engine.plays(answer('1'), answer('2'), answer('3'), answer('4'));
    const { body } = await complete({ prompt: ['a', 'b'], n: 2, echo: true });
    const texts = body.choices.map(({ index, text }: { index: number; text: string }) => [index, text]);
    verifies(['completions.prompts', 'completions.echo'], () =>
      expect(texts).toEqual([
        [0, 'a1'],
        [1, 'a2'],
        [2, 'b3'],
        [3, 'b4'],
      ]),
    );
    expect(body.usage).toMatchObject({ prompt_tokens: 14, completion_tokens: 4, total_tokens: 18 });
  });

  it('streams its prompt first when it is to be echoed', async () => {
    const body = { model: 'default', prompt: ['Once'], echo: true, stream: true };
    service.engine.plays(answer(' upon'));
    const open = await service.client.openStream({ method: 'POST', path, body });
    const { text: whole } = await open.all();
    verifies('completions.echo', () => expect(whole).toBe('Once upon'));
  });

  it('reports log probabilities as text completions have them', async () => {
    const token = (piece: string, logprob: number) => ({
      text: piece,
      bytes: [...Buffer.from(piece)],
      logprob,
    });
    const tokens = [
      { chosen: token('ab', -0.5), top: [token('ab', -0.5), token('x', -2)] },
      { chosen: token('c', -1), top: [token('c', -1)] },
    ];
    service.engine.plays([started(), { type: 'text', text: 'abc', tokens }, done()]);
    const { body } = await complete({ logprobs: 2 });
    verifies('completions.logprobs', () => {
      expect(job().topLogprobs).toBe(2);
      expect(body.choices[0].logprobs).toEqual({
        tokens: ['ab', 'c'],
        token_logprobs: [-0.5, -1],
        top_logprobs: [{ ab: -0.5, x: -2 }, { c: -1 }],
        text_offset: [0, 2],
      });
    });
  });

  const token = (piece: string, logprob: number, id = 9) => ({
    id,
    text: piece,
    bytes: [...Buffer.from(piece)],
    logprob,
  });
  const promptToken = (piece: string, logprob: number | null, id: number) => {
    const { logprob: _, ...named } = token(piece, 0, id);
    const top = [token('top', -0.1, 1), token('next', -2, 2)];
    return { ...named, score: logprob === null ? null : { logprob, rank: 7, top } };
  };
  const scores: Step = {
    type: 'prompt_tokens',
    tokens: [promptToken('<s>', null, 0), promptToken('On', -1, 4), promptToken('ce', -3, 5)],
  };

  it('reports how likely an echoed prompt is', async () => {
    const said: Step = { type: 'text', text: ' upon', tokens: [{ chosen: token(' upon', -5), top: [] }] };
    service.engine.plays([started(), scores, said, done()]);
    const { body } = await complete({ echo: true, logprobs: 1 });
    verifies('completions.logprobs', () => {
      expect(job().scoredPrompt).toEqual({ top: 1, from: 0 });
      expect(body.choices[0]).toMatchObject({
        text: 'Once upon',
        logprobs: {
          tokens: ['<s>', 'On', 'ce', ' upon'],
          token_logprobs: [null, -1, -3, -5],
          // The token itself is always among them.
          top_logprobs: [null, { top: -0.1, On: -1 }, { top: -0.1, ce: -3 }, { ' upon': -5 }],
          text_offset: [0, 0, 2, 4],
        },
      });
    });
  });

  it('echoes tokens by their text, in a stream too', async () => {
    const fields = { prompt: [[0, 4, 5]], echo: true, logprobs: 0, max_tokens: 0 };
    service.engine.plays([started(), scores, done('length')], [started(), scores, done('length')]);
    const { body } = await complete(fields);
    expect(job().prompt).toEqual({ kind: 'tokens', tokens: [0, 4, 5] });
    expect(body.choices[0]).toMatchObject({
      text: '<s>Once',
      logprobs: { top_logprobs: [null, { On: -1 }, { ce: -3 }], text_offset: [0, 3, 5] },
    });
    const stream = { model: 'default', ...fields, stream: true };
    const open = await service.client.openStream({ method: 'POST', path, body: stream });
    const { text: whole, chunks } = await open.all();
    expect(whole).toBe('<s>Once');
    const told = chunks.flatMap((chunk) => (chunk as typeof body).choices?.[0]?.logprobs?.tokens ?? []);
    expect(told).toEqual(['<s>', 'On', 'ce']);
  });

  it('reports the prompt by itself as vLLM does', async () => {
    service.engine.plays([started(), scores, text(' upon'), done()]);
    const { body } = await complete({ prompt_logprobs: 1 });
    expect(job().scoredPrompt).toEqual({ top: 1, from: 0 });
    const top = { logprob: -0.1, rank: 1, decoded_token: 'top' };
    expect(body.choices[0]).toMatchObject({
      text: ' upon',
      logprobs: null,
      prompt_token_ids: [0, 4, 5],
      prompt_logprobs: [
        null,
        { 4: { logprob: -1, rank: 7, decoded_token: 'On' }, 1: top },
        { 5: { logprob: -3, rank: 7, decoded_token: 'ce' }, 1: top },
      ],
    });
  });

  it('names what cannot be reported together', async () => {
    for (const [fields, param] of [
      [{ prompt_logprobs: 1, stream: true }, 'prompt_logprobs'],
      [{ prompt_logprobs: 21 }, 'prompt_logprobs'],
      [{ prompt_logprobs: -1 }, 'prompt_logprobs'],
      [{ echo: true, logprobs: 1, suffix: 'x' }, 'echo'],
      [{ echo: true, prompt: [1, 2] }, 'echo'],
    ] as const) {
      const { status, body } = await complete(fields);
      expect([status, body.param], JSON.stringify(fields)).toEqual([400, param]);
    }
  });

  it('is refused when the prompts have more to report than an answer may hold', async () => {
    const many = started(4096, 100_000);
    service.engine.plays([many, gate().opened], [many, gate().opened]);
    const { status, body } = await complete({ prompt: ['a', 'b'], prompt_logprobs: 1, max_tokens: 0 });
    expect([status, body.param]).toEqual([400, 'prompt']);
    expect(body.message).toContain('262144');
    service.engine.plays([many, done('length')]);
    expect((await complete({ prompt_logprobs: 1, max_tokens: 0 })).status).toBe(200);
  });

  it('is refused when it asks for more answers than run at a time', async () => {
    const { status, body } = await complete({ n: 5 });
    expect([status, body.param]).toEqual([400, 'n']);
    expect(body.message).toContain('at most 4');
    expect((await complete({ n: 4 })).body.choices).toHaveLength(4);
  });

  it('is not made by an embedding model', async () => {
    const { status, body } = await complete({ model: installed.embedding });
    expect([status, body.code]).toEqual([400, 'wrong_model_kind']);
  });
});
