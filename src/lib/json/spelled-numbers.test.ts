import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KnownMember } from './known-member.ts';
import { parseJsonInTurns } from './parse-json-in-turns.ts';
import { parseSpelled } from './parse-spelled.ts';
import { isUsual, SpelledNumber, spelled, writeJson } from './spelled-numbers.ts';
import { parseJson } from './strict-json.ts';

const SPELLINGS = ['1234567890123456789', '1.0', '1e22', '1E+5', '-0', '-0.0', '0.10', '1e-7', '12', '0.5'];

const number = fc
  .oneof(
    fc.constantFrom(...SPELLINGS),
    fc
      .tuple(fc.bigInt({ min: 0n, max: 10n ** 30n }), fc.constantFrom('', '.0', '.50', 'e3', 'E-12'))
      .map(String),
  )
  .map((text) => text.replace(',', ''));
const string = fc.oneof(
  fc.string(),
  fc.constantFrom('1.0', '"', '\\', '\\"', 'a\\\\"1e5', '[{', '1234567890123456789'),
);
/** Not like an index, which JavaScript puts before other names. */
const key = string.map((text) => `k${text}`);

/** Texts of JSON without white space. */
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    number,
    string.map((text) => JSON.stringify(text)),
    fc.constantFrom('null', 'true', '{}', '[]'),
    fc.array(tie('json'), { maxLength: 5 }).map((items) => `[${items.join(',')}]`),
    fc
      .uniqueArray(fc.tuple(key, tie('json')), { maxLength: 5, selector: ([name]) => name })
      .map((members) => `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`),
  ),
}));

describe('numbers', () => {
  it('are spelled after reading and writing as they were before, by every reader', async () => {
    const padding = JSON.stringify('x'.repeat(40_000));
    await fc.assert(
      fc.asyncProperty(json, async (text) => {
        const document = `{"a":[${text}],"tools":[${text},1.0]}`;
        const tools = new KnownMember('tools', { entries: 4, bytes: 1e6, leastBytes: 1, tokens: 1e4 });
        expect(writeJson(parseSpelled(document))).toBe(document);
        expect(parseSpelled(document)).toEqual(JSON.parse(document));
        // The first reads the tools, the second knows them.
        for (const _ of ['first', 'again'])
          expect(writeJson(parseJson(Buffer.from(document), tools))).toBe(document);
        const large = `{"padding":${padding},${document.slice(1)}`;
        for (const _ of ['first', 'again'])
          expect(writeJson(await parseJsonInTurns(Buffer.from(large), tools))).toBe(large);
      }),
      { numRuns: 300 },
    );
  });

  it('are spelled like this between white space, and with an indent', () => {
    const text = '{\n  "a": 1.0,\n  "b": [\n    1e22,\n    {}\n  ],\n  "c": {\n    "d": -0\n  }\n}';
    expect(writeJson(parseSpelled(text), '  ')).toBe(text);
    expect(writeJson(parseSpelled(text))).toBe('{"a":1.0,"b":[1e22,{}],"c":{"d":-0}}');
  });

  it('belong to the last of several members with the same name', () => {
    expect(writeJson(parseSpelled('{"a":1.0,"a":2}'))).toBe('{"a":2}');
    expect(writeJson(parseSpelled('{"a":{"b":1.0},"a":{"b":1}}'))).toBe('{"a":{"b":1}}');
    expect(writeJson(parseSpelled('{"a":[1.0],"a":1}'))).toBe('{"a":1}');
    expect(writeJson(parseSpelled('{"__proto__":{"b":1.0}}'))).toBe('{"__proto__":{"b":1.0}}');
  });

  it('are values where a program walks through them', () => {
    expect(spelled(parseSpelled('{"a":[1.0,2]}'))).toEqual({ a: [new SpelledNumber('1.0'), 2] });
    const plain = parseSpelled('{"a":[1,2.5]}');
    expect(spelled(plain)).toBe(plain);
  });

  it('need no note where JavaScript and Python write them alike', () => {
    const usual = ['0', '-7', '9007199254740991', '0.5', '123.25', '0.0001'];
    const unusual = ['-0', '1.0', '1e3', '9007199254740993', '9007199254740992', '0.00001', '1e21', '0.50'];
    expect(usual.filter((text) => !isUsual(text))).toEqual([]);
    expect(unusual.filter(isUsual)).toEqual([]);
  });
});
