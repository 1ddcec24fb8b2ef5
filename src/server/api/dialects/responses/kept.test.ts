import { describe, expect, it } from 'vitest';
import { fail } from '../../../../lib/errors/svc-error.ts';
import type { InputItem } from '../../../../wire/responses/items.ts';
import type { ResponseBody } from '../../../../wire/responses/response.ts';
import { KeptResponses } from './kept.ts';
import type { OpenRecord } from './response-draft.ts';

const response = { id: `resp_${'a'.repeat(48)}`, output: [] } as unknown as ResponseBody;
const input: readonly InputItem[] = [{ type: 'message', role: 'user', content: 'x' }];

/** A draft whose record ends like that, and what was written of it. */
function drafted(end: OpenRecord['end'], items = input) {
  let text = '';
  let dropped = 0;
  const add = (part: string): void => void (text += part);
  const record: OpenRecord = {
    add,
    end: (part) => {
      add(part);
      return end(part);
    },
    drop: async () => void (dropped += 1),
  };
  const keeper = { begin: () => record, get: async () => null, delete: async () => false };
  const draft = new KeptResponses(keeper).draft('a', response.id, items);
  if (draft === null) throw new Error('there is a keeper');
  return { draft, text: () => text, dropped: () => dropped };
}

describe('a response that is to be kept', () => {
  it('says whether it was', async () => {
    expect(await drafted(async () => true).draft.keep(response)).toBe(true);
    expect(await drafted(async () => false).draft.keep(response)).toBe(false);
    expect(new KeptResponses(null).draft('a', response.id, input)).toBeNull();
  });

  it('is answered all the same when the disk is full, and fails for nothing else', async () => {
    const full = drafted(async () => {
      throw fail('disk_full', { path: '/x', reason: 'it is full' });
    });
    expect(await full.draft.keep(response)).toBe(false);
    const broken = drafted(async () => {
      throw new Error('a bug');
    });
    await expect(broken.draft.keep(response)).rejects.toThrow('a bug');
  });

  it('is written up to the response before there is one, with every item named', async () => {
    const { draft, text } = drafted(async () => true, [...input, { id: 'own' }]);
    const before = text();
    expect(before).toMatch(/^\{"schema":1,"input":\[.*\],"response":$/);
    await draft.keep(response);
    expect(text().startsWith(before)).toBe(true);
    expect(JSON.parse(text())).toEqual({
      schema: 1,
      input: [{ ...input[0], id: expect.stringMatching(/^item_/) }, { id: 'own' }],
      response,
    });
  });

  it('is dropped once, and only where it was not kept', async () => {
    const { draft, dropped } = drafted(async () => true);
    await draft.drop();
    await draft.drop();
    expect(dropped()).toBe(1);
    const other = drafted(async () => true);
    await other.draft.keep(response);
    await other.draft.drop();
    expect(other.dropped()).toBe(0);
  });
});
