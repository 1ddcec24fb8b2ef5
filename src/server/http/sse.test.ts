import fastify from 'fastify';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import type { StreamItem } from '../api/generation/stream-item.ts';
import { systemClock } from '../../lib/base/clock.ts';
import { silentLogger } from '../../lib/base/logger.ts';
import { deferred } from '../../lib/base/deferred.ts';
import { PendingItems, sendStream } from './sse.ts';

describe('sendStream', () => {
  it('ends as a 500, and closes the job, when the head cannot be written', async () => {
    const events: string[] = [];
    async function* items(): AsyncGenerator<StreamItem, void, void> {
      try {
        yield { started: { numCtx: 64 } };
        yield { comment: 'never read' };
      } finally {
        events.push('closed');
      }
    }
    const app = fastify();
    onTestFinished(() => app.close());
    app.get('/', (_request, reply) =>
      sendStream(reply.header('x-name', 'a\nb'), items(), {
        clock: systemClock,
        log: silentLogger,
        headAfterMs: 1_000,
        chooseShape: () => 'string',
        abort: () => events.push('aborted'),
      }),
    );
    const response = await fetch(await app.listen({ host: '127.0.0.1', port: 0 }));
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ code: 'internal' });
    expect(events).toEqual(['aborted', 'closed']);
  });
});

describe('items that are waited for', () => {
  it('are not lost when they come after a silence', async () => {
    const clock = new ManualClock();
    const said = deferred<void>();
    async function* items(): AsyncGenerator<string, void, void> {
      await said.promise;
      yield 'late';
      yield 'last';
    }
    const pending = new PendingItems(items(), clock);
    for (const _ of [1, 2]) {
      const silent = pending.next(1_000);
      await clock.advance(1_000);
      expect(await silent).toBe('silence');
    }
    said.resolve();
    expect([await pending.next(1), await pending.next(1), await pending.next(1)]).toEqual([
      'late',
      'last',
      'end',
    ]);
    expect(clock.pending).toBe(0);
  });

  it.each([
    ['fail', () => Promise.reject(new Error('refused'))],
    ['end', () => Promise.resolve()],
  ] as const)('leave no timer behind when they %s', async (_, end) => {
    const clock = new ManualClock();
    async function* items(): AsyncGenerator<string, void, void> {
      yield 'first';
      await end();
    }
    const pending = new PendingItems(items(), clock);
    expect(await pending.next(1_000)).toBe('first');
    expect(clock.pending).toBe(1);
    await pending.next(1_000).catch(() => undefined);
    expect(clock.pending).toBe(0);
  });
});
