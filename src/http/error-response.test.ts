import { describe, expect, it } from 'vitest';
import { entryOf } from '../lib/errors/catalogue.ts';
import { fail } from '../lib/errors/svc-error.ts';
import { allCodes, sampleFailure } from '../../test/support/sample-failure.ts';
import { asSvcError, errorBody, errorResponse } from './error-response.ts';

describe('errorResponse', () => {
  it('advises against a retry exactly where a repeat would fail again', () => {
    for (const code of allCodes) {
      const { headers } = errorResponse(sampleFailure(code));
      expect('x-should-retry' in headers, code).toBe(!entryOf(code).retryable);
    }
  });

  it.each([
    [0, '1'],
    [0.2, '1'],
    [1, '1'],
    [1.01, '2'],
    [60, '60'],
  ])('rounds a wait of %d s up to whole seconds', (retryAfterS, header) => {
    expect(errorResponse(fail('queue_full', { limit: 1, retryAfterS })).headers['Retry-After']).toBe(header);
  });
});

describe('errorBody', () => {
  it('keeps what a client chose on one line and well-formed', () => {
    const { error } = errorBody(fail('model_not_found', { model: 'a\r\nb\u0000\u009b\u2028\ud800c' }));
    // oxlint-disable-next-line no-control-regex -- exactly these must not be there
    expect(error).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
    expect(error.isWellFormed()).toBe(true);
  });

  it('names the field only where there is one', () => {
    expect(errorBody(fail('draining'))).not.toHaveProperty('param');
    expect(errorBody(fail('model_not_found', { model: 'm', param: 'model' })).param).toBe('model');
  });

  it('says nothing of what is no error of ours', () => {
    for (const thrown of [new Error('inside'), 'inside', null, undefined, { code: 'inside' }]) {
      const body = errorBody(asSvcError(thrown));
      expect([body.code, JSON.stringify(body).includes('inside')]).toEqual(['internal', false]);
    }
  });
});
