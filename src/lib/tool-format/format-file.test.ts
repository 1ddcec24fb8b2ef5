import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Check } from 'typebox/value';
import { formatOfSource, formatOfTemplate, MINE } from '../../../test/support/formats.ts';
import { template } from '../../../test/support/templates.ts';
import { isSvcError, errorReason } from '../errors/svc-error.ts';
import { JSON_TYPES } from '../../../packages/chat-templates/src/tool-format/tool-format.ts';
import { formatDefect, readFormatFile } from './format-file.ts';
import type { GivenFormat } from '../../../packages/chat-templates/src/tool-format/tool-format.ts';
import { FormatShape } from './format-shape.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'hearth-format-'));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

const TAGGED = {
  kind: 'tagged',
  between: '',
  beforeKey: '<',
  beforeValue: '>',
  afterValue: ['</end>'],
  strings: { as: 'raw' },
  others: { as: 'json' },
};

const MIDDLES = Object.fromEntries(JSON_TYPES.map((type) => [type, `:${type}=`]));

const mine = (members: object): object => ({ tools: { ...MINE, ...members } });

async function read(content: unknown): Promise<GivenFormat | string> {
  const file = path.join(folder, 'format.json');
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  try {
    return JSON.parse(await readFormatFile(file)) as GivenFormat;
  } catch (error) {
    return isSvcError(error) ? `${error.code}: ${errorReason(error)}` : String(error);
  }
}

describe('a format in a file', () => {
  it('is read as it stands', async () => {
    expect(await read({ tools: MINE })).toEqual({ tools: MINE });
    expect(await read({ tools: { ...MINE, arguments: TAGGED } })).toMatchObject({
      tools: { arguments: TAGGED },
    });
    expect(await read({ tools: null, thinking: { open: '<t>', close: '</t>' } })).toMatchObject({
      tools: null,
    });
  });

  it('may be any format that was written down for a family', async () => {
    const text = await readFile(new URL('../../../test/families/formats.json', import.meta.url), 'utf8');
    const families = Object.entries(JSON.parse(text) as Record<string, { format: GivenFormat }>);
    expect(families.length).toBeGreaterThan(60);
    for (const [name, { format }] of families) {
      expect(Check(FormatShape, format), name).toBe(true);
      expect(formatDefect(format), name).toBeNull();
    }
  });

  it.each([
    ['no JSON', '{', /it is not JSON$/],
    ['a list', [], /it must be object$/],
    ['too long', ' '.repeat(70_000), /it is 70000 bytes long; the limit is 65536$/],
    ['silent', {}, /it says nothing/],
    ['of unknown members', { tools: MINE, more: 1 }, /more is not a member that a format has$/],
    ['polluting', '{"tools":null,"__proto__":{"thinking":null}}', /__proto__ is not a member/],
    ['of a wrong type', mine({ several: 'yes' }), /tools.several must be boolean|tools must match/],
    ['of endless marks', mine({ trigger: 'x'.repeat(401) }), /must not have more than 400|tools must match/],
    ['of control characters', mine({ section: { ...MINE.section, open: '\u0000' } }), /control character/],
    ['half a character', { thinking: { open: '\ud800', close: 'x' } }, /half of one character/],
    ['nameless', mine({ call: { before: ['@call '], after: [] } }), /needs one slot "name"/],
    [
      'named twice',
      mine({ call: { before: ['@call ', { slot: 'name' }, ' ', { slot: 'name' }, ' '], after: [] } }),
      /needs one slot "name"/,
    ],
    ['begun elsewhere', mine({ trigger: '@other' }), /tools.trigger has to be the beginning/],
    ['without a trigger', mine({ trigger: ' ' }), /tools.trigger has to be the beginning/],
    [
      'without an end of the name',
      mine({ call: { before: ['@call ', { slot: 'name' }, 'x'], after: [] } }),
      /what follows a slot/,
    ],
    [
      'of slots without a text between',
      mine({ call: { before: ['@call', { slot: 'name' }, { slot: 'id' }, ':'], after: [] } }),
      /what follows a slot/,
    ],
    [
      'without an end of values',
      mine({ arguments: { ...TAGGED, afterValue: [] } }),
      /nothing else ends a value/,
    ],
    ['without a middle', mine({ arguments: { ...TAGGED, beforeValue: ' ' } }), /more than white space/],
    [
      'without a middle for one type',
      mine({ arguments: { ...TAGGED, beforeValue: { ...MIDDLES, null: ' ' } } }),
      /more than white space/,
    ],
    [
      'of channels alone',
      { channels: { ...formatOfSource(template('hermes'), 'harmony').channels } },
      /need tools/,
    ],
  ])('is refused when it is %s', async (_, content, refusal) => {
    expect(await read(content)).toMatch(refusal);
  });

  it('is refused when it is not there, or no file', async () => {
    await expect(readFormatFile(path.join(folder, 'nothing'))).rejects.toMatchObject({
      code: 'file_not_found',
    });
    await mkdir(path.join(folder, 'sub'));
    await expect(readFormatFile(path.join(folder, 'sub'))).rejects.toMatchObject({
      code: 'setting_file_unusable',
    });
  });
});

describe('a given format', () => {
  it('stands in the place of what the template shows, member by member', () => {
    const source = template('tagged');
    const given = { tools: MINE } as unknown as GivenFormat;
    const format = formatOfSource(source, given);
    expect(format).toMatchObject({ tools: MINE, thinking: { open: '<think>' }, history: { calls: 'text' } });
    expect(format.evidence[0]?.says).toBe('The file that was set for this model gives: tools.');
    const silent = formatOfSource(source, { thinking: null });
    expect(silent).toMatchObject({ thinking: null, tools: formatOfTemplate('tagged').tools });
  });

  it('lets the template write past calls where it is what the template shows', () => {
    const { tools } = formatOfTemplate('tagged');
    expect(formatOfSource(template('tagged'), { tools }).history.calls).toBe('template');
  });
});
