import { describe, expect, it } from 'vitest';
import { fail } from '../../../lib/errors/svc-error.ts';
import type { ResponseBody } from '../../../wire/responses/response.ts';
import { KeptResponses, type ResponseKeeper } from './kept.ts';

const response = { id: `resp_${'a'.repeat(48)}`, output: [] } as unknown as ResponseBody;
const input = [{ type: 'message', role: 'user', content: 'x' }];
const keeper = (put: ResponseKeeper['put']): KeptResponses =>
  new KeptResponses({ put, get: async () => null, delete: async () => false });

describe('a response that is to be kept', () => {
  it('says whether it was', async () => {
    expect(await keeper(async () => true).keep('a', input, response)).toBe(true);
    expect(await keeper(async () => false).keep('a', input, response)).toBe(false);
    expect(await new KeptResponses(null).keep('a', input, response)).toBe(false);
  });

  it('is answered all the same when the disk is full, and fails for nothing else', async () => {
    const full = keeper(async () => {
      throw fail('disk_full', { path: '/x', reason: 'it is full' });
    });
    expect(await full.keep('a', input, response)).toBe(false);
    const broken = keeper(async () => {
      throw new Error('a bug');
    });
    await expect(broken.keep('a', input, response)).rejects.toThrow('a bug');
  });

  it('names its items, so that they can be listed', async () => {
    let kept: unknown;
    await keeper(async (_owner, _id, record) => {
      kept = record;
      return true;
    }).keep('a', [...input, { id: 'own' }], response);
    expect(kept).toMatchObject({ input: [{ id: expect.stringMatching(/^item_/) }, { id: 'own' }] });
  });
});
