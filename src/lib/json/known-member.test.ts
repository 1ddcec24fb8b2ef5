import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KnownMember } from './known-member.ts';
import { JSON_LIMITS } from './json-scan.ts';
import { parseJson } from './strict-json.ts';

const LIMITS = { entries: 2, bytes: 1000, leastBytes: 0, tokens: JSON_LIMITS.tokens };
const known = (limits: Partial<typeof LIMITS> = {}): KnownMember =>
  new KnownMember('tools', { ...LIMITS, ...limits });
const read = (text: string, member: KnownMember) =>
  parseJson(Buffer.from(text), member) as Record<string, unknown>;

describe('a member that documents share', () => {
  it('is the same frozen value while its bytes are the same, in every document', () => {
    const tools = known();
    const first = read('{"tools":[{"a":[1]}],"n":1}', tools);
    const second = read('{"m":"\u00e4", "tools": [{"a":[1]}] , "n":2}', tools);
    expect(second).toEqual({ m: '\u00e4', tools: [{ a: [1] }], n: 2 });
    expect(Object.keys(second)).toEqual(['m', 'tools', 'n']);
    expect(second['tools']).toBe(first['tools']);
    expect(() => (second['tools'] as object[]).push({})).toThrow(TypeError);
    expect(() => Object.assign((second['tools'] as object[])[0] ?? {}, { b: 1 })).toThrow(TypeError);
    expect(read('{"tools":[{"a":[2]}]}', tools)['tools']).toEqual([{ a: [2] }]);
    expect(read('{"x":{"tools":[{"a":[1]}]}}', tools)['x']).not.toBe(first['tools']);
  });

  it('reads whatever a reader without memory reads, and refuses what it refuses', () => {
    const tools = known({ entries: 4 });
    const outcome = (reads: () => unknown): unknown => {
      try {
        return reads();
      } catch (error) {
        return String(error);
      }
    };
    const value = fc.oneof(
      fc.json({ maxDepth: 2 }),
      fc.constantFrom('[1]', '[1', '[1]]', '{"a":1}', '1', '12'),
    );
    const key = fc.constantFrom('tools', 'tool', 'tools\\"', '\\u0074ools', 'toolsx', '__proto__');
    const member = fc.tuple(key, value).map(([name, text]) => `"${name}":${text}`);
    fc.assert(
      fc.property(fc.array(member, { maxLength: 3 }), (members) => {
        const bytes = Buffer.from(`{${members.join(',')}}`);
        expect(outcome(() => parseJson(bytes, tools))).toEqual(outcome(() => parseJson(bytes)));
      }),
      { numRuns: 2000 },
    );
  });

  it('takes the place of one, however often it is read', () => {
    const tools = known();
    const other = read('{"tools":[1]}', tools);
    const bytes = Buffer.from('[2]');
    for (const times of [1, 2]) tools.remember(bytes, [2], times);
    expect(read('{"tools":[1]}', tools)['tools']).toBe(other['tools']);
  });

  it('counts towards the limits of its document every time', () => {
    const tools = known({ bytes: 1_000_000 });
    const many = `[${'1,'.repeat(JSON_LIMITS.tokens / 2)}1]`;
    for (const times of [1, 2]) {
      expect(Object.keys(read(`{"tools":${many}}`, tools)), `time ${times}`).toEqual(['tools']);
      expect(() => read(`{"tools":${many},"more":${many}}`, tools)).toThrow(/more than/);
      expect(() => read(`{"more":${many},"tools":${many}}`, tools)).toThrow(/more than/);
    }
  });

  it('is remembered within bounds, the least recently used forgotten first', () => {
    const tools = known();
    const of = (n: number) => read(`{"tools":[${n}]}`, tools)['tools'];
    const [one, two] = [of(1), of(2)];
    expect(of(1)).toBe(one);
    of(3);
    expect(of(1)).toBe(one);
    expect(of(2)).not.toBe(two);
    const small = known({ bytes: 5 });
    const long = () => read('{"tools":[1,2,3]}', small)['tools'];
    expect(long()).not.toBe(long());
    const short = known({ leastBytes: 4 });
    expect(read('{"tools":[1]}', short)['tools']).not.toBe(read('{"tools":[1]}', short)['tools']);
  });
});
