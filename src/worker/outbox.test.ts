import { describe, expect, it } from 'vitest';
import type { FromWorker } from '../contract/ipc.ts';
import type { JobEvent } from '../contract/job-event.ts';
import { Outbox, OUTBOX_LIMITS } from './outbox.ts';

const text = (said: string): JobEvent => ({ type: 'text', text: said });

function make() {
  const messages: FromWorker[] = [];
  const time = { ms: 1000 };
  const outbox = new Outbox(
    (message, onSent) => {
      messages.push(message);
      onSent();
    },
    OUTBOX_LIMITS,
    () => time.ms,
  );
  const sizes = () => messages.map((message) => (message.type === 'events' ? message.events.length : 0));
  return { outbox, time, sizes };
}

describe('when events leave', () => {
  /** Milliseconds between the messages of a stream whose steps take so long, one token each. */
  function gapsOf(stepMs: number, onGpu = false): number[] {
    const { outbox, time, sizes } = make();
    if (onGpu) outbox.computesOnGpu();
    const sentMs: number[] = [];
    const note = (): void => {
      if (sizes().length > sentMs.length) sentMs.push(time.ms);
    };
    for (let step = 0; step < 100; step += 1) {
      outbox.event('a', text('x'), step === 0);
      outbox.beforeNativeCall(stepMs);
      note();
      time.ms += stepMs;
      outbox.afterNativeCall();
      note();
    }
    return sentMs.slice(1).map((at, i) => at - (sentMs[i] ?? 0));
  }

  it.each([
    [1, 45],
    [17, 34],
    [22, 44],
    [23, 23],
    [33, 33],
    [44, 44],
    [59, 59],
    [90, 90],
  ])('steps of %d ms leave every %d ms: several share a message, or each has its own', (stepMs, gapMs) => {
    expect(new Set(gapsOf(stepMs))).toEqual(new Set([gapMs]));
  });

  it.each([
    [2, 14],
    [5, 15],
    [9, 9],
    [30, 30],
  ])('steps of %d ms on a GPU leave every %d ms', (stepMs, gapMs) => {
    expect(new Set(gapsOf(stepMs, true).slice(1))).toEqual(new Set([gapMs]));
  });

  it('makes no reader wait for the end of a long step: the second word comes one step after the first', () => {
    expect(gapsOf(60)[0]).toBe(60);
  });

  it('sends first and last words before the engine works again', () => {
    const { outbox, sizes } = make();
    outbox.event('a', text('first'), true);
    outbox.beforeNativeCall(1);
    outbox.event('a', text('middle'));
    outbox.event('b', text('last'), true);
    outbox.beforeNativeCall(1);
    expect(sizes()).toEqual([1, 2]);
  });

  it('keeps no event waiting for a long piece of work', () => {
    const { outbox, time, sizes } = make();
    outbox.event('a', text('1'));
    outbox.beforeNativeCall(OUTBOX_LIMITS.eachAboveMs + 1);
    expect(sizes()).toEqual([1]);
    outbox.event('a', text('2'));
    time.ms += OUTBOX_LIMITS.longestHoldMs - 15;
    outbox.beforeNativeCall(10);
    expect(sizes()).toEqual([1]);
    outbox.beforeNativeCall(20);
    expect(sizes()).toEqual([1, 1]);
  });

  it('says everything of a job before its failure', () => {
    const { outbox, sizes } = make();
    outbox.event('a', text('1'));
    outbox.failed('a', new Error('broken on purpose'));
    expect(sizes()).toEqual([1, 0]);
  });
});

describe('a channel that backs up', () => {
  it('lets every waiting loop go on once there is room', async () => {
    const sent: (() => void)[] = [];
    const outbox = new Outbox((_, onSent) => sent.push(onSent), { ...OUTBOX_LIMITS, unsentMessages: 1 });
    const post = (): void => outbox.post({ type: 'pong', nonce: 0 });
    post();
    const wentOn: string[] = [];
    const loops = ['a', 'b', 'c'].map((name) => outbox.drained().then(() => wentOn.push(name)));
    sent.shift()?.();
    // The room is taken again before any of them has looked.
    post();
    const later = outbox.drained().then(() => wentOn.push('later'));
    sent.shift()?.();
    await Promise.all([...loops, later]);
    expect(wentOn.sort()).toEqual(['a', 'b', 'c', 'later']);
  });
});
