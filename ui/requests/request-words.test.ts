import { expect, it } from 'vitest';
import type { RequestView } from '../../src/wire/operation/requests.ts';
import { figuresOf, missLabel } from './request-words.ts';

const missed = (reason?: string): RequestView => ({
  number: 1,
  request_id: 'r',
  started_ms: 0,
  total_ms: 1,
  client: 'c',
  method: 'POST',
  route: '/v1/chat/completions',
  stream: false,
  status: 200,
  has_text: false,
  ...(reason === undefined ? {} : { cache_miss: reason }),
});
const sentenceOf = (reason: string): string | undefined =>
  figuresOf(missed(reason)).find(({ name }) => name.startsWith('Why'))?.value;

it('say why a prompt was computed again, in a sentence and as a label', () => {
  expect(sentenceOf('not_worth')).toBe('computing it was faster');
  expect(missLabel(missed('text_changed'))).toBe('text changed');
  expect([missLabel(missed('cold')), missLabel(missed())]).toEqual([null, null]);
  // Of a service of another version.
  expect([sentenceOf('moon_phase'), missLabel(missed('moon_phase'))]).toEqual(['moon phase', 'moon phase']);
});
