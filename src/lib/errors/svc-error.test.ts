import { describe, expect, it } from 'vitest';
import { fail, isFailure, isSvcError, errorReason, reviveFailure, type SvcError } from './svc-error.ts';

const never = Math.random() > 1;

describe('fail', () => {
  it('takes the detail of the code and nothing else', () => {
    expect(fail('model_not_found', { model: 'm' }).detail).toEqual({ model: 'm' });
    // None of these runs; tsc fails where one of them would compile.
    if (never) {
      // @ts-expect-error the model is missing
      fail('model_not_found');
      // @ts-expect-error the model is missing
      fail('model_not_found', {});
      // @ts-expect-error the model is a string
      fail('model_not_found', { model: 1 });
      // @ts-expect-error no such member
      fail('model_not_found', { model: 'm', size: 1 });
      // @ts-expect-error an optional member is left out, not undefined
      fail('model_not_found', { model: 'm', param: undefined });
      // @ts-expect-error no such code
      fail('model_lost', { model: 'm' });
    }
  });

  it('takes no detail where the code has none', () => {
    expect(fail('draining').detail).toEqual({});
    if (never) {
      // @ts-expect-error the code has no detail
      fail('draining', { model: 'm' });
      fail('internal', { reason: 'x' });
      fail('internal');
    }
  });

  it('wants for one of several codes what satisfies each of them', () => {
    const code = never ? 'load_failed' : 'model_not_found';
    if (never) {
      // @ts-expect-error load_failed has a reason
      fail(code, { model: 'm' });
    }
    const failure = fail(code, { model: 'm', reason: 'r' });
    const narrowed: SvcError<'load_failed' | 'model_not_found'> = failure;
    expect(narrowed.code).toBe('model_not_found');
  });

  it('keeps the cause, which comes last', () => {
    const cause = new Error('deep');
    expect(fail('load_failed', { model: 'm', reason: 'r' }, cause).cause).toBe(cause);
    expect(fail('internal', {}, cause).cause).toBe(cause);
    expect('cause' in fail('draining')).toBe(false);
  });
});

describe('a failure that is compared with a code', () => {
  const anyFailure = (): SvcError => fail('queue_full', { limit: 2, retryAfterS: 3 });
  const failure = anyFailure();

  it('has the detail of that code', () => {
    if (failure.code !== 'queue_full') throw failure;
    const seconds: number = failure.detail.retryAfterS;
    expect(seconds).toBe(3);
    if (never) {
      // @ts-expect-error a full queue names no model
      void failure.detail.model;
    }
  });

  it('has the members that all codes share when it may be one of several', () => {
    const error: unknown = fail('worker_hung', { model: 'm', reason: 'silent' });
    if (!isFailure(error, 'worker_crashed', 'worker_hung')) throw error;
    const { reason, model }: { reason: string; model: string } = error.detail;
    expect([reason, model]).toEqual(['silent', 'm']);
    if (never) {
      // @ts-expect-error only worker_crashed has it
      void error.detail.outside;
    }
  });

  it('is not of another code, and nothing foreign is', () => {
    expect(isFailure(failure, 'draining')).toBe(false);
    expect(isFailure(Object.assign(new Error('x'), { code: 'queue_full' }), 'queue_full')).toBe(false);
    expect([isSvcError(failure), isSvcError(new Error('x')), isSvcError(null)]).toEqual([true, false, false]);
  });
});

describe('a failure of another process', () => {
  const detail = { index: 3, tokens: 900, limit: 512, param: 'input' };

  it('is made again from code and detail', () => {
    const revived = reviveFailure('input_too_long', detail);
    expect(revived?.message).toBe(fail('input_too_long', detail).message);
    expect(revived?.detail).toEqual(detail);
  });

  it.each([
    ['lacks a member', { ...detail, limit: undefined }],
    ['has a member of another type', { ...detail, tokens: '900' }],
    ['has an optional member of another type', { ...detail, withQuery: 'yes' }],
    ['has a member that only looks like text', { ...detail, param: { toString: 5 } }],
    ['has a member only by inheritance', Object.create(detail)],
  ])('is refused where its detail %s', (_, given) => {
    expect(reviveFailure('input_too_long', given)).toBeNull();
  });

  it('loses members that its code does not have', () => {
    const revived = reviveFailure('template_failed', { reason: 'r', path: '/etc', limit: 1 });
    expect(revived?.detail).toEqual({ reason: 'r' });
  });
});

describe('reasonOf', () => {
  it('is the reason without the sentence, or the sentence where there is none', () => {
    expect(errorReason(fail('load_failed', { model: 'm', reason: 'no tensors' }))).toBe('no tensors');
    expect(errorReason(fail('draining'))).toBe(fail('draining').message);
  });
});
