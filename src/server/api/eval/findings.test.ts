import { describe, expect, it } from 'vitest';
import type { Difference } from '../../../store/registry/differences.ts';
import { measurement, othersAtOdd, plain } from '../../../../test/support/measurements.ts';
import type { Known } from './causes.ts';
import { findingsOf, isProvedBy, needsTensors } from './findings.ts';
import type { Measurement } from './measure.ts';

/** All tensors were compared, and nothing differs. */
const SAME: Known = {
  values: [],
  alike: 50,
  retyped: null,
  reshaped: [],
  missing: [],
  added: [],
  other: { compared: 50, other: [] },
};
const value = (over: Partial<Difference>): Difference => ({
  name: 'llama.rope.freq_base',
  about: 'predictions',
  own: '40',
  reference: '10000',
  isTraded: false,
  ...over,
});
const worse = measurement('x', () => -1.5);
const drifting = { ...othersAtOdd(), model: 'x' };
const found = (candidate: Measurement, known: Known | null, reference = plain): string[] =>
  findingsOf(candidate, reference, known);

describe('findings beside a reference', () => {
  it('are none for an equal model, whatever its file says', () => {
    expect(found(plain, null)).toEqual([]);
    expect(found(plain, SAME)).toEqual([]);
    expect(found(plain, { ...SAME, values: [value({})] })).toEqual([]);
  });

  it.each([
    [
      'coarse or damaged weights',
      worse,
      /^It chooses another next token than big in 0\.0 % of places, and needs 1\.50 times the bits of big/,
    ],
    ['other choices', othersAtOdd(), /in 50\.0 % of places, and needs 1\.00 times/],
    ['positions that go wrong', measurement('x', (at) => -1 - at / 100), /gets worse along a text/],
    ['another template', measurement('x', () => -1, { rendered: 'Hi' }), /another chat template/],
    [
      'another vocabulary',
      measurement('x', () => -1, {
        texts: [{ name: 'a', bytes: 200, tokens: [{ id: 7, logprob: -1, top: [] }] }],
      }),
      /splits 1 of 1 texts into other tokens than big/,
    ],
    ['logits that are no numbers', measurement('x', () => Number.NaN), /probabilities that are no numbers/],
  ])('name %s, if no file is known', (_, candidate, words) => {
    const findings = found(candidate, null);
    expect(findings).toHaveLength(1);
    expect(findings[0]).toMatch(words);
  });

  it.each<[string, Partial<Known>, string]>([
    ['a setting', { values: [value({})] }, 'another setting: llama.rope.freq_base is 40, and 10000 in big'],
    [
      'a setting that only one has',
      { values: [value({ name: 'rope_freq_base', reference: null })] },
      'another setting: rope_freq_base is 40, and not set in big',
    ],
    [
      'a list that reads the same',
      { values: [value({ own: '40 values', reference: '40 values' })] },
      'another setting: llama.rope.freq_base differs from that of big',
    ],
    [
      'a coarser quant',
      { retyped: { count: 30, own: 2.6, reference: 4.8 }, other: { compared: 20, other: [] } },
      'too coarse a quant: 30 tensors have 2.6 bits per weight, and 4.8 in big',
    ],
    [
      'a damaged tensor',
      { other: { compared: 50, other: ['blk.1.ffn_down.weight'] } },
      'damaged weights: 1 of 50 tensors in the same form have other values (blk.1.ffn_down.weight)',
    ],
    [
      'other weights',
      { other: { compared: 4, other: ['a', 'b', 'c', 'd'] } },
      'other weights: 4 of 4 tensors in the same form have other values (a, b, c, …)',
    ],
    ['a lost tensor', { missing: ['rope_freqs.weight'] }, 'tensors are missing: rope_freqs.weight'],
    ['a tensor too many', { added: ['x.bias'] }, 'big does not have these tensors: x.bias'],
    [
      'another size of the family',
      { reshaped: ['token_embd.weight'], values: [value({})] },
      'another model (1 tensors have other sizes: token_embd.weight)',
    ],
    [
      'another family',
      { values: [value({ name: 'general.architecture', own: '"qwen3"', reference: '"llama"' })] },
      'another model (general.architecture is "qwen3", and "llama" in big)',
    ],
    [
      'several causes',
      { values: [value({})], other: { compared: 50, other: ['a'] } },
      'another setting: llama.rope.freq_base is 40, and 10000 in big; damaged weights: 1 of 50 tensors',
    ],
    ['nothing', {}, 'nothing in its files or settings explains it; measure again'],
  ])('name the cause: %s', (_, over, words) => {
    expect(found(worse, { ...SAME, ...over })).toEqual([expect.stringContaining(`same text: ${words}`)]);
  });

  it('name a quant of two bits by fewer other choices', () => {
    const candidate = {
      ...plain,
      texts: plain.texts.map((text) => ({
        ...text,
        tokens: text.tokens.map((each, at) =>
          at % 10 === 0 ? { ...each, top: [[700, -0.9]] as [number, number][] } : each,
        ),
      })),
    };
    const quant = (own: number): Known => ({ ...SAME, retyped: { count: 30, own, reference: 8.5 } });
    expect(found(candidate, quant(2.6))).toEqual([
      expect.stringMatching(
        /in 10\.0 % of places, .*: too coarse a quant: 30 tensors have 2\.6 bits per weight/,
      ),
    ]);
    expect(found(candidate, quant(4.5))).toEqual([]);
  });

  it('name the key of a vocabulary and of a template', () => {
    const known = {
      ...SAME,
      values: [
        value({
          name: 'tokenizer.ggml.tokens',
          about: 'vocabulary',
          own: '300 values',
          reference: '400 values',
        }),
        value({ name: 'template', about: 'template', own: 'llama-2', reference: null }),
      ],
    };
    const candidate = measurement('x', () => -1, {
      rendered: 'Hi',
      texts: [{ name: 'a', bytes: 200, tokens: [{ id: 7, logprob: -1, top: [] }] }],
    });
    expect(found(candidate, known)).toEqual([
      'It splits 1 of 1 texts into other tokens than big: another vocabulary (tokenizer.ggml.tokens is 300 values, and 400 values in big).',
      'It puts a conversation in other words than big: another chat template (template is llama-2, and not set in big).',
    ]);
  });

  it('name a setting by little drift if the weights are proved to be the same', () => {
    const slightly = drifting.texts.map((text) => ({
      ...text,
      tokens: text.tokens.map((each, at) =>
        at % 20 === 0 ? each : { ...each, top: plain.texts[0]?.tokens[at]?.top ?? [] },
      ),
    }));
    const candidate = { ...drifting, texts: slightly.map((text) => ({ ...text, bytes: text.bytes - 1 })) };
    const known = { ...SAME, values: [value({})] };
    expect(found(candidate, known)).toEqual([
      'With the same weights, it chooses another next token than big in 5.0 % of places: another setting: llama.rope.freq_base is 40, and 10000 in big.',
    ]);
    // The price of a smaller cache, and a quant, cost as much.
    expect(found(candidate, { ...SAME, values: [value({ name: 'kv_type', isTraded: true })] })).toEqual([]);
    expect(found(candidate, { ...known, retyped: { count: 3, own: 4, reference: 5 } })).toEqual([]);
    expect(found(candidate, { ...known, other: { compared: 50, other: ['a'] } })).toEqual([]);
  });

  it('find that facts of a long text are lost, where texts show nothing', () => {
    const needle = (missed: number[]) => ({ window: 512, tokens: 400, facts: 5, missed });
    const recalling = (missed: number[]) => measurement('x', () => -1, { needle: needle(missed) });
    const big = measurement('big', () => -1, { needle: needle([]) });
    expect(found(recalling([0.25]), null, big)).toEqual([]);
    const words = 'It recalls 2 of 5 facts in a text of 400 tokens, and big 5: ';
    expect(found(recalling([0.05, 0.25, 0.5]), null, big)).toEqual([
      `${words}its window, its rotary base or the types of its KV cache differ.`,
    ]);
    expect(found(recalling([0.05, 0.25, 0.5]), { ...SAME, values: [value({})] }, big)).toEqual([
      `${words}another setting: llama.rope.freq_base is 40, and 10000 in big.`,
    ]);
    expect(found(recalling([0.05, 0.25, 0.5]), SAME, plain)).toEqual([]);
  });

  it('take a small loss for what a quant costs, and are none for a better model that chooses otherwise', () => {
    expect(
      found(
        measurement('x', () => -1.1),
        null,
      ),
    ).toEqual([]);
    const better = {
      ...drifting,
      texts: drifting.texts.map((text) => ({ ...text, bytes: 2 * text.bytes })),
    };
    const made: Partial<Known>[] = [
      { retyped: { count: 30, own: 8.5, reference: 2.6 } },
      { reshaped: ['token_embd.weight'] },
      { other: { compared: 2, other: ['a', 'b'] } },
    ];
    for (const over of made) expect(found(better, { ...SAME, ...over })).toEqual([]);
    const wrong: Partial<Known>[] = [
      {},
      { values: [value({})] },
      { other: { compared: 50, other: ['a'] } },
      { retyped: { count: 30, own: 2.6, reference: 8.5 } },
    ];
    for (const over of wrong) expect(found(better, { ...SAME, ...over })).toHaveLength(1);
  });
});

describe('the bytes of tensors', () => {
  const unread = { ...SAME, other: null };
  it('are read only where they explain something', () => {
    expect(needsTensors(plain, plain, unread)).toBe(false);
    expect(
      needsTensors(
        measurement('x', () => -1.1),
        plain,
        unread,
      ),
    ).toBe(false);
    expect(needsTensors(worse, plain, unread)).toBe(true);
    expect(needsTensors(drifting, plain, { ...unread, values: [value({})] })).toBe(true);
    const needle = { window: 512, tokens: 400, facts: 5, missed: [0.05, 0.25, 0.5] };
    const big = measurement('big', () => -1, { needle: { ...needle, missed: [] } });
    expect(
      needsTensors(
        measurement('x', () => -1, { needle }),
        big,
        unread,
      ),
    ).toBe(true);
  });

  it('are not needed where another vocabulary explains all', () => {
    const other = measurement('x', () => -3, {
      texts: [{ name: 'a', bytes: 200, tokens: [{ id: 7, logprob: -1, top: [] }] }],
    });
    expect(needsTensors(other, plain, unread)).toBe(false);
    expect(isProvedBy(other, plain, unread)).toBe(true);
    expect(
      isProvedBy(
        measurement('x', () => -1, { rendered: 'Hi' }),
        plain,
        unread,
      ),
    ).toBe(false);
  });
});
