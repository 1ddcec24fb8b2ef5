/** What the CLI says where something is not there, and when something will be. */
import { describe, expect, it } from 'vitest';
import { fail } from '../../lib/errors/svc-error.ts';
import { adviceFor } from './advice.ts';
import { durationText } from '../../lib/base/duration.ts';
import { inTime } from './relative-time.ts';
import { requestFacts } from './request-words.ts';
import { wrapWords } from '../terminal/screen.ts';
import { unknownVerb, unknownSubverb } from './unknown-verb.ts';

const verbs = ['serve', 'status', 'run', 'list', 'show', 'verify', 'pull'];

describe('a word that is no verb', () => {
  it.each([
    ['chat', 'there is no verb chat. Did you mean hearth run?'],
    ['generate', 'there is no verb generate. Did you mean hearth run?'],
    ['stauts', 'there is no verb stauts. Did you mean hearth status?'],
    ['copy', 'there is no verb copy. hearth --help lists them.'],
    ['xyzzy', 'there is no verb xyzzy. hearth --help lists them.'],
    ['constructor', 'there is no verb constructor. hearth --help lists them.'],
  ])('%s', (word, sentence) => {
    expect(unknownVerb(word, verbs)).toBe(sentence);
  });
});

it('says how to do what no verb does', () => {
  expect(unknownVerb('restart', ['restore'])).toBe(
    'there is no verb restart. Run hearth quit, then hearth serve; a unit: systemctl --user restart hearth',
  );
});

it('names verbs below a verb in the same words', () => {
  expect(unknownSubverb('cache', 'nonsense', ['list', 'why'])).toBe(
    'there is no verb cache nonsense. hearth cache --help lists them.',
  );
  expect(unknownSubverb('cache', 'lst', ['list', 'why'])).toBe(
    'there is no verb cache lst. Did you mean hearth cache list?',
  );
  expect(unknownSubverb('key', 'remove', ['add', 'rm'])).toBe(
    'there is no verb key remove. Did you mean hearth key rm?',
  );
});

describe('advice', () => {
  const advice = (error: unknown) => adviceFor(error, async () => ['gemma-3-270m', 'hearth-embed']);

  it('names models that resemble the one that is missing', async () => {
    expect(await advice(fail('model_not_found', { model: 'gemma' }))).toBe(' Did you mean gemma-3-270m?');
    expect(await advice(fail('model_not_found', { model: 'other' }))).toBe('');
  });

  it.each(['gema', 'gemma', 'mistal', 'qwen3.5'])(
    'says what to pull for a slip in a known name: %s',
    async (model) => {
      const error = fail('model_not_found', { model });
      expect(await adviceFor(error, async () => [])).toMatch(
        /^ It resembles ".*hearth pull \S+.* hearth search /,
      );
    },
  );

  it.each([
    fail('model_not_found', { model: 'qwen3:0.6b' }),
    fail('reference_invalid', { ref: 'qwen3:0.6b', reason: 'r' }),
  ])('says what to pull in the size of the tag, after $code', async (error) => {
    expect(await advice(error)).toContain(
      'hearth pull Qwen/Qwen3-0.6B-GGUF (hearth fit Qwen/Qwen3-0.6B-GGUF',
    );
  });

  it('offers no other size where the one that is asked for is not known', async () => {
    const said = await advice(fail('reference_invalid', { ref: 'llama3.2:90b', reason: 'r' }));
    expect(said).toContain('3b, 1b are known here, such as llama3.2:3b');
    expect(said).toContain('hearth search llama3.2 90b');
    expect(said).not.toContain('hearth pull bartowski');
  });

  it.each([
    fail('file_not_found', { path: '/somewhere/hearth-mini' }),
    fail('reference_invalid', { ref: 'Hearth-Mini', reason: 'r' }),
  ])('says how to install a built-in model after: $message', async (error) => {
    expect(await advice(error)).toBe(
      ' hearth-mini ships with Hearth; install it with: hearth restore hearth-mini',
    );
  });

  it('is not given twice: the sentence about a missing built-in model has it', async () => {
    const error = fail('model_not_found', { model: 'Hearth-Mini' });
    expect(error.message).toContain('it ships with Hearth, so run: hearth restore hearth-mini.');
    expect(await advice(error)).toBe('');
  });

  it('says that a proxy is not used, where one is set', async () => {
    const error = fail('hub_unreachable', { endpoint: 'https://hub.example', reason: 'ENOTFOUND' });
    const none = async () => [];
    expect(await adviceFor(error, none, {})).toBe('');
    expect(await adviceFor(error, none, { HTTPS_PROXY: 'http://proxy:3128' })).toMatch(
      /^ HTTPS_PROXY is set, but models are fetched without a proxy/,
    );
  });

  it('is silent about everything else', async () => {
    expect(await advice(fail('draining'))).toBe('');
    expect(await advice(new Error('x'))).toBe('');
  });
});

it('a moment to come is put in the largest unit that says enough', () => {
  const second = 1000;
  expect([0, 40, 89, 250, 5400, 86_400, 259_200].map((seconds) => inTime(seconds * second, 0))).toEqual([
    'now',
    'in 40 s',
    'in 89 s',
    'in 4 min',
    'in 2 h',
    'in 24 h',
    'in 3 days',
  ]);
});

describe('a note', () => {
  it('is broken between words', () => {
    expect(wrapWords('one two three\nfour', 8)).toBe('one two\nthree\nfour');
    expect(wrapWords('averyverylongword x', 8)).toBe('averyverylongword\nx');
  });

  it('goes on under its last column', () => {
    expect(wrapWords('/a [B]  does this and that', 20)).toBe('/a [B]  does this\n        and that');
  });
});

describe('a duration', () => {
  it.each([
    [0, '0 ms'],
    [323, '323 ms'],
    [22_245, '22.2 s'],
    [59_960, '1 min 0 s'],
    [245_400, '4 min 5 s'],
  ])('of %d ms', (ms, words) => {
    expect(durationText(ms)).toBe(words);
  });
});

describe('a recorded request', () => {
  it('is told in words and units, without what is not known', () => {
    const view = {
      number: 7,
      request_id: 'one',
      started_ms: 0,
      method: 'POST',
      route: '/v1/rerank',
      stream: false,
      status: 200,
      client: 'c',
      total_ms: 22_245,
      load_ms: 22_000,
      has_text: false,
    };
    expect(Object.fromEntries(requestFacts(view))).toEqual({
      Number: '7',
      'Request ID': 'one',
      Started: '1970-01-01T00:00:00.000Z',
      Method: 'POST',
      Route: '/v1/rerank',
      Streamed: 'no',
      'HTTP status': '200',
      'Client hash': 'c',
      Total: '22.2 s',
      'Waiting for the model to load': '22.0 s',
      'Text kept': 'no',
    });
  });
});
