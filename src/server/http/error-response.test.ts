import { describe, expect, it } from 'vitest';
import { fail, type SvcError } from '../../lib/errors/svc-error.ts';
import { allCodes, sampleFailure } from '../../../test/support/sample-failure.ts';
import { asSvcError, errorResponse, describeFailure } from './error-response.ts';

describe('errorResponse', () => {
  /** What a repeat of the same request, sent soon, may not meet. Every other code repeats. */
  const MAY_PASS = [
    'answer_invalid',
    'answer_not_resumed',
    'cancelled',
    'draining',
    'hub_rate_limited',
    'hub_unreachable',
    'key_busy',
    'queue_full',
    'starting',
    'store_busy',
    'too_many_changes',
    'too_many_readers',
    'upstream_broken',
    'upstream_busy',
    'upstream_failed',
    'upstream_timeout',
    'upstream_unreachable',
    'upstreams_down',
    'worker_crashed',
    'worker_hung',
  ];
  const advisesAgainst = (failure: SvcError): boolean =>
    errorResponse(failure).headers['x-should-retry'] === 'false';

  it('advises against a retry of every code but these', () => {
    const retried = allCodes.filter((code) => {
      const sample = sampleFailure(code);
      return !advisesAgainst(code === 'answer_invalid' ? fail(code, { what: '', reason: '' }) : sample);
    });
    expect(retried.toSorted()).toEqual(MAY_PASS);
  });

  it.each([
    [fail('answer_invalid', { what: 'It', reason: 'no', repeats: true }), true],
    [fail('answer_invalid', { what: 'It', reason: 'no', repeats: false }), false],
    [fail('upstream_failed', { upstream: 'u', status: 500, message: '' }), false],
    [fail('upstream_failed', { upstream: 'u', status: 501, message: '' }), true],
    [fail('upstream_broken', { upstream: 'u', what: 'cut', reason: '' }), false],
    [fail('upstream_broken', { upstream: 'u', what: 'redirect', reason: '' }), true],
    [fail('upstream_broken', { upstream: 'u', what: 'content_type', reason: '' }), true],
  ])('advises against a retry that would repeat: %s', (failure, repeats) => {
    expect(advisesAgainst(failure)).toBe(repeats);
    expect(failure.message.includes('send the request again')).toBe(
      !repeats && failure.code !== 'upstream_failed',
    );
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

describe('the body of a failure', () => {
  const bodyOf = (error: SvcError) => describeFailure(error, '').body;

  it('keeps what a client chose on one line and well-formed', () => {
    const { message } = bodyOf(fail('model_not_found', { model: 'a\r\nb\u0000\u009b\u2028\ud800c' }));
    // oxlint-disable-next-line no-control-regex -- exactly these must not be there
    expect(message).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
    expect(message.isWellFormed()).toBe(true);
  });

  it('names the field only where there is one', () => {
    expect(bodyOf(fail('draining'))).not.toHaveProperty('param');
    expect(bodyOf(fail('model_not_found', { model: 'm', param: 'model' })).param).toBe('model');
  });

  it('says nothing of what is no error of ours', () => {
    for (const thrown of [new Error('inside'), 'inside', null, undefined, { code: 'inside' }]) {
      const body = bodyOf(asSvcError(thrown));
      expect([body.code, JSON.stringify(body).includes('inside')]).toEqual(['internal', false]);
    }
  });
});
