import { describe, expect, it } from 'vitest';
import { requestId } from './hooks.ts';

describe('requestId', () => {
  it('keeps an id that is harmless in headers and logs', () => {
    for (const id of ['a', 'trace-1_2.3', 'x'.repeat(128)])
      expect(requestId({ 'x-request-id': id })).toBe(id);
  });

  it.each(['', ' ', 'a b', 'a\nb', '"', 'ü', '../..', 'x'.repeat(129)])('replaces %j', (id) => {
    expect(requestId({ 'x-request-id': id })).toMatch(/^req_[0-9a-f-]{36}$/);
  });

  it('makes one of its own when there is none, or a list of them', () => {
    expect(requestId({})).not.toBe(requestId({}));
    expect(requestId({ 'x-request-id': ['a', 'b'] })).toMatch(/^req_/);
  });
});
