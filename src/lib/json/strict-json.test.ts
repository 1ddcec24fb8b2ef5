import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SvcError } from '../errors/svc-error.ts';
import { JSON_LIMITS, JsonScan } from './json-scan.ts';
import { JsonValues } from './json-values.ts';
import { parseJsonInTurns } from './parse-json-in-turns.ts';
import { parseJson } from './strict-json.ts';

const parse = (text: string) => parseJson(Buffer.from(text));

function outcomeOf(read: () => unknown): unknown {
  try {
    return { value: read() };
  } catch (error) {
    return (error as SvcError).code;
  }
}

const keys = (count: number) => Array.from({ length: count }, (_, at) => `"key${at}":${at}`).join(',');

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
    ['a raw newline in a long string', `"${'a'.repeat(1000)}\n"`, /control character/],
    [
      'a control character in a long key with an escape',
      `{"${'a'.repeat(1000)}\u0001\\n":1}`,
      /control character/,
    ],
    ['one of many keys twice', `{${keys(40)},"key7":1}`, /twice/],
    ['one of many keys twice, once with an escape', `{${keys(40)},"\\u006bey7":1}`, /twice/],
    ['an escape that there is not', '"a\\x"', /unexpected/],
    ['half an escape', '"\\u00g0"', /unexpected/],
    ['an escape at the end', '"\\', /unexpected/],
    ['an unfinished string', '"abc', /ends unexpectedly/],
  ])('refuses %s', (_name, text, reason) => {
    expect(() => parse(text)).toThrow(reason);
  });

  it('finds the end of long strings, wherever quotes and escapes are', () => {
    const piece = fc.oneof(
      fc.constantFrom('\\n', '\\"', '\\\\', '\\u0022', '","', '":"', 'ü'),
      fc.nat(600).map((length) => 'x'.repeat(length)),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const text = `["${pieces.join('')}"]`;
        let expected: unknown;
        try {
          expected = JSON.parse(text);
        } catch {
          expect(() => parse(text)).toThrow();
          return;
        }
        expect(parse(text)).toEqual(expected);
      }),
    );
  });

  it('takes many keys, and tells those that differ in one character', () => {
    expect(parse(`{${keys(5_000)}}`)).toEqual(JSON.parse(`{${keys(5_000)}}`));
  });

  it('reads the same values in steps of any size, and refuses the same', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '\\n',
        '\\"',
        '\\\\',
        '\\u0022',
        '\\ud83d\\ude00',
        'ü',
        '漢字',
        '😀',
        '\u0001',
        '\\ud800',
        '\\x',
      ),
      fc.nat(600).map((length) => 'x'.repeat(length)),
    );
    const long = fc.array(piece, { maxLength: 6 }).map((pieces) => `"${pieces.join('')}"`);
    const value = fc.oneof(
      fc.json({ maxDepth: 4 }),
      long,
      fc
        .array(fc.tuple(long, fc.json({ maxDepth: 2 })), { maxLength: 4 })
        .map((members) => `{${members.map(([key, text]) => `${key}: ${text}`).join(' ,')}}`),
    );
    fc.assert(
      fc.property(value, fc.integer({ min: 1, max: 400 }), fc.nat(40), (text, step, cut) => {
        const bytes = Buffer.from(text.slice(0, text.length - (cut % 3)));
        const inSteps = outcomeOf(() => {
          const values = new JsonValues(bytes);
          const scan = new JsonScan(bytes, { values });
          let end = step;
          while (!scan.advance(end)) end += step;
          return values.root;
        });
        expect(inSteps).toEqual(outcomeOf(() => parseJson(bytes)));
      }),
      { numRuns: 2000 },
    );
  });

  it('lets the event loop turn while a large document is read', async () => {
    const text = JSON.stringify({ a: 'x'.repeat(3_000_000), b: [1, 2] });
    let turns = 0;
    const count = (): void => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    const value = await parseJsonInTurns(Buffer.from(text));
    clearImmediate(next);
    expect(turns).toBeGreaterThan(4);
    expect(value).toEqual(JSON.parse(text));
    await expect(parseJsonInTurns(Buffer.from(text.slice(0, -1)))).rejects.toThrow(/ends unexpectedly/);
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
