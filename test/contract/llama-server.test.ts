/** The routes that llama-server has beside OpenAI's, in its shapes. */
import { describe, expect, it } from 'vitest';
import type { GenerateJob, TokenizeJob } from '../../src/contract/job.ts';
import type { JobEvent } from '../../src/contract/job-event.ts';
import { fail } from '../../src/lib/errors/svc-error.ts';
import { answer, done, started, text } from '../support/http/scripted-engine.ts';
import { installed, scriptedService } from '../support/http/scripted-service.ts';
import { checkFrame } from '../support/http/schema-check.ts';

const service = scriptedService();
const complete = (fields: object = {}) => service.client.post('/completion', { prompt: 'Once', ...fields });
const job = () => service.engine.lastJob.submission.job as GenerateJob;
const token = (id: number, piece: string, logprob: number) => ({
  id,
  text: piece,
  bytes: [...Buffer.from(piece)],
  logprob,
});
const ofTokens = (...pieces: string[]): JobEvent => ({
  type: 'text',
  text: pieces.join(''),
  tokens: pieces.map((piece, id) => ({ chosen: token(id + 5, piece, -1), top: [token(id + 5, piece, -1)] })),
});

/** The events of a stream, which ends without a word. */
async function eventsOf(path: string, body: object) {
  const { status, text: sent } = await service.client.ask({ method: 'POST', path, body });
  expect([status, sent.endsWith('\n\n'), sent.includes('[DONE]')]).toEqual([200, true, false]);
  const blocks = sent.slice(0, -2).split('\n\n');
  return blocks
    .filter((block) => !block.startsWith(': '))
    .map((block) => {
      const event = JSON.parse(block.replace(/^data: /, ''));
      checkFrame(path, event);
      return event;
    });
}

describe('a completion', () => {
  it('is of the default model, reads marks, and says how it ended', async () => {
    service.engine.plays(answer(' upon', '\na time'));
    const { status, body, headers } = await complete({ n_predict: 9, top_k: 3, samplers: ['top_k'] });
    expect(status).toBe(200);
    expect(job()).toMatchObject({ prompt: { kind: 'text', text: 'Once', readsMarks: true }, maxTokens: 9 });
    expect(body).toMatchObject({
      index: 0,
      content: ' upon\na time',
      tokens: [],
      stop: true,
      model: installed.chat,
      tokens_predicted: 2,
      tokens_evaluated: 7,
      tokens_cached: 9,
      prompt: 'Once',
      has_new_line: true,
      truncated: false,
      stop_type: 'eos',
      stopping_word: '',
    });
    expect(body.generation_settings).toMatchObject({ n_predict: 9, top_k: 3, top_p: 0.95, stop: [] });
    expect(body.timings).toMatchObject({ predicted_n: 2, prompt_n: 4, cache_n: 3 });
    expect(body).not.toHaveProperty('completion_probabilities');
    expect([headers['x-svc-ignored-params'], headers['x-svc-boot-id']]).toEqual(['samplers', service.bootId]);
  });

  it('names the limit, or the string that stopped it', async () => {
    service.engine.plays([started(), text('x'), done('length')]);
    expect((await complete()).body.stop_type).toBe('limit');
    service.engine.plays([started(), { ...done(), stopString: '.' } as JobEvent]);
    expect((await complete({ stop: ['.'] })).body).toMatchObject({ stop_type: 'word', stopping_word: '.' });
  });

  it('takes the smallest limit, and names what it has no use for', async () => {
    service.engine.plays(answer('x'));
    const { headers } = await complete({
      n_predict: 100,
      num_predict: 10,
      stream_options: { include_usage: true },
    });
    expect(job().maxTokens).toBe(10);
    expect(String(headers['x-svc-ignored-params']).split(',').toSorted()).toEqual([
      'n_predict',
      'stream_options',
    ]);
  });

  it('lists tokens, and alternatives to each, when asked', async () => {
    service.engine.plays([started(), ofTokens('a', 'b'), done()]);
    expect((await complete({ return_tokens: true })).body).toMatchObject({ tokens: [5, 6] });
    expect(job().topLogprobs).toBe(0);
    service.engine.plays([started(), ofTokens('a'), done()]);
    const { body } = await complete({ n_probs: 1 });
    expect(job().topLogprobs).toBe(1);
    const shown = { id: 5, token: 'a', bytes: [97], logprob: -1 };
    expect(body.completion_probabilities).toEqual([{ ...shown, top_logprobs: [shown] }]);
  });

  it('takes prompts of every kind, and answers a list to several', async () => {
    const mixed = await complete({ prompt: [1, 2, 'x\ud800', 3, 'y'] });
    expect([mixed.status, mixed.body.error?.message]).toEqual([200, undefined]);
    expect(job().prompt).toEqual({ kind: 'mixed', parts: [[1, 2], 'x\ufffd', [3], 'y'], readsMarks: true });
    await complete({ prompt: { prompt_string: 'a' }, parse_special: false });
    expect(job().prompt).toEqual({ kind: 'text', text: 'a' });
    service.engine.plays(answer('1'), answer('2'), answer('3'), answer('4'));
    const { body } = await complete({ prompt: ['a', [1], { prompt_string: 'b' }, [2, 'c']] });
    expect(
      body.map(({ index, content, prompt }: Record<string, unknown>) => [index, content, prompt]),
    ).toEqual([
      [0, '1', 'a'],
      [1, '2', null],
      [2, '3', 'b'],
      [3, '4', null],
    ]);
  });

  it('follows a schema, which the whole answer is held to', async () => {
    service.engine.plays(answer('{"a":', '1}'));
    const json_schema = { type: 'object', properties: { a: { type: 'integer' } } };
    expect((await complete({ json_schema })).body.content).toBe('{"a":1}');
    expect(job().format).toMatchObject({ kind: 'json_schema' });
    service.engine.plays(answer('{"a":"x"}'));
    expect((await complete({ json_schema })).status).toBe(500);
  });

  it('has only the members that were asked for', async () => {
    const response_fields = ['content', 'generation_settings/n_predict', 'nothing/at/all', 'constructor'];
    service.engine.plays(answer('x'));
    const { body } = await complete({ n_predict: 4, response_fields });
    expect(body).toEqual({ content: 'x', 'generation_settings/n_predict': 4 });
  });

  it('is streamed piece by piece, with how far the prompt is evaluated', async () => {
    const progress = (evaluatedTokens: number): JobEvent => ({
      type: 'progress',
      promptTokens: 7,
      cachedTokens: 3,
      evaluatedTokens,
      elapsedMs: 1.5,
    });
    service.engine.plays([started(), progress(3), progress(7), ofTokens('a'), ofTokens('b'), done('length')]);
    const events = await eventsOf('/completion', {
      prompt: 'Once',
      stream: true,
      n_probs: 1,
      return_progress: true,
    });
    expect(job().reportsProgress).toBe(true);
    expect(events.map(({ content, stop, tokens }) => [content, stop, tokens])).toEqual([
      ['', false, []],
      ['', false, []],
      ['a', false, [5]],
      ['b', false, [5]],
      ['', true, []],
    ]);
    expect(events[1].prompt_progress).toEqual({
      total: 7,
      cache: 3,
      processed: 7,
      time_ms: 1.5,
      remaining_ms: 0,
    });
    expect(events.map((event) => event.completion_probabilities?.length)).toEqual([
      undefined,
      undefined,
      1,
      1,
      undefined,
    ]);
    expect(events.at(-1)).toMatchObject({ stop_type: 'limit', tokens_predicted: 2 });
  });

  it('fails in the words of the dialect, before and in a stream', async () => {
    const overflow = fail('context_length_exceeded', { promptTokens: 9, numCtx: 8, maxCtx: 8 });
    service.engine.plays([overflow]);
    const { status, body } = await complete();
    expect([status, body.error.code, body.error.type]).toEqual([400, 400, 'exceed_context_size_error']);
    expect(body.error).toMatchObject({ n_prompt_tokens: 9, n_ctx: 8 });
    expect((await complete({ n_probs: 21 })).body.error).toMatchObject({ type: 'invalid_request_error' });
    service.engine.plays([
      started(),
      text('x'),
      fail('worker_hung', { model: 'tiny-chat', reason: 'silent' }),
    ]);
    const broken = service.client.ask({
      method: 'POST',
      path: '/completion',
      body: { prompt: 'Once', stream: true },
    });
    await expect(broken).rejects.toThrow();
  });

  it.each([
    ['an image', { prompt: { prompt_string: 'a', multimodal_data: ['x'] } }, 'prompt.multimodal_data'],
    ['no text in an object', { prompt: [{}] }, 'prompt[0].prompt_string'],
    ['nothing in a list', { prompt: [[]] }, 'prompt'],
    ['a deeper list', { prompt: [[[1]]] }, 'prompt'],
    ['a fraction', { prompt: [1.5] }, 'prompt'],
    ['a flag as a token', { prompt: [true] }, 'prompt'],
  ])('with %s is a 400', async (_, fields, named) => {
    const { status, body } = await complete(fields);
    expect([status, body.error.message]).toEqual([400, expect.stringContaining(named)]);
  });
});

describe('the gap of a text', () => {
  it('is filled between what stands around it, beside other files', async () => {
    service.engine.plays(answer('x'));
    const { body } = await service.client.post('/infill', {
      input_prefix: 'def f(',
      prompt: 'a',
      input_suffix: '):',
      input_extra: [{ filename: 'b.py', text: 'B' }, { text: 'C' }],
      n_predict: 4,
      t_max_predict_ms: 100,
    });
    expect(job().prompt).toEqual({
      kind: 'text',
      text: 'def f(a',
      suffix: '):',
      files: [
        { name: 'b.py', text: 'B' },
        { name: 'tmp', text: 'C' },
      ],
    });
    expect(body).toMatchObject({ content: 'x', stop: true });
    const { status } = await service.client.post('/infill', { input_prefix: 'a' });
    expect(status).toBe(400);
  });
});

describe('what asks the vocabulary and the template', () => {
  it('is answered without a model to be named', async () => {
    const tokenized = await service.client.post('/tokenize', { content: 'ab' });
    expect(tokenized.body).toMatchObject({ tokens: [97, 98] });
    expect((service.engine.lastJob.submission.job as TokenizeJob).parseSpecial).toBe(true);
  });

  it('tells lm-eval the marks of the default model', async () => {
    const marks = { begin: '<s>', end: '' };
    service.engine.plays([{ type: 'tokenized', tokens: new Uint32Array(), marks }]);
    const { status, body } = await service.client.get('/tokenizer_info');
    expect([status, body]).toEqual([200, { model: installed.chat, bos_token: '<s>', eos_token: null }]);
    expect(service.engine.lastJob.submission.job).toMatchObject({
      kind: 'tokenize',
      text: '',
      wantsMarks: true,
    });
  });
});
