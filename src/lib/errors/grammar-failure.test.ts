import { describe, expect, it } from 'vitest';
import { checkClientGbnf } from '../../../packages/schema-grammar/src/gbnf/gbnf-check.ts';
import { tooLarge } from '../../../packages/schema-grammar/src/schema/schema-budget.ts';
import { asFailure, orFailure } from './grammar-failure.ts';

describe('a refusal of the grammar package', () => {
  it('is an invalid request that names the place', () => {
    expect(() => orFailure(() => checkClientGbnf('root ::= root "a"'))).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        detail: { param: 'grammar', message: expect.stringContaining('The grammar cannot be used') },
      }),
    );
  });

  it('names no place where it is about all schemas', () => {
    expect(asFailure(tooLarge())).toMatchObject({
      code: 'invalid_request',
      detail: { message: expect.stringContaining('The schema is too large') },
    });
    expect(asFailure(tooLarge())).not.toHaveProperty('detail.param');
  });

  it('is the only error that changes', () => {
    const error = new Error('another');
    expect(asFailure(error)).toBe(error);
  });
});
