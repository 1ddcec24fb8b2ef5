import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JSON_LIMITS, parseJson } from './strict-json.ts';

const parse = (text: string) => parseJson(Buffer.from(text));

describe('parseJson', () => {
  it('agrees with JSON.parse on every document that JSON.stringify can write', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        fc.pre(!text.includes('__proto__'));
        expect(parse(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('refuses whatever JSON.parse refuses', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 3 }), fc.nat(), fc.string({ maxLength: 2 }), (text, at, splice) => {
        const position = at % (text.length + 1);
        const broken = text.slice(0, position) + splice + text.slice(position + 1);
        let usable = true;
        try {
          JSON.parse(broken);
        } catch {
          usable = false;
        }
        if (!usable) expect(() => parse(broken)).toThrow(expect.objectContaining({ code: 'invalid_json' }));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['nothing', '', /empty/],
    ['a BOM', '\ufeff{}', /unexpected/],
    ['NaN', '{"temperature":NaN}', /unexpected/],
    ['a number beyond double', '{"temperature":1e999}', /too large/],
    ['duplicate keys', '{"a":1,"a":2}', /twice/],
    ['duplicate keys behind an escape', '{"a":1,"\\u0061":2}', /twice/],
    ['__proto__', '{"x":{"__proto__":{}}}', /__proto__/],
    ['__proto__ behind an escape', '{"\\u005f_proto__":{}}', /__proto__/],
    ['two documents', '{} {}', /unexpected/],
    ['a raw newline in a string', '"a\nb"', /unexpected/],
    ['an unfinished string', '"abc', /ends unexpectedly/],
  ])('refuses %s', (_name, text, reason) => {
    expect(() => parse(text)).toThrow(reason);
  });

  it('refuses a body that is not UTF-8', () => {
    expect(() => parseJson(Buffer.from([0x22, 0xff, 0x22]))).toThrow(/UTF-8/);
  });

  it('bounds depth and number of values', () => {
    expect(() => parse('['.repeat(1_000_000))).toThrow(/deeper/);
    expect(parse('['.repeat(JSON_LIMITS.depth) + ']'.repeat(JSON_LIMITS.depth))).toBeTruthy();
    expect(() => parse(`[${'1,'.repeat(JSON_LIMITS.tokens)}1]`)).toThrow(/more than/);
  });
});
