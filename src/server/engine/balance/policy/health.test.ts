import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_BALANCE_LIMITS as limits } from '../limits.ts';
import { FAILURE_KINDS, type FailureKind } from '../../failure-kinds.ts';
import { type Health, applySignal, newHealth, probeDueMs, type Signal, standing } from './health.ts';

/** An upstream's health under a clock that a test moves. */
class Watched {
  nowMs = 1_000;
  health: Health = newHealth(1_000);

  apply(...signals: readonly Signal[]): this {
    for (const signal of signals) this.health = applySignal(this.health, signal, this.nowMs, limits);
    return this;
  }

  fail(kind: FailureKind, retryAfterMs?: number): this {
    return this.apply({ type: 'sent' }, { type: 'failed', kind, retryAfterMs });
  }

  later(ms: number): this {
    this.nowMs += ms;
    return this;
  }

  get standing() {
    return standing(this.health, this.nowMs);
  }
}

const completed: readonly Signal[] = [{ type: 'sent' }, { type: 'begun' }, { type: 'completed' }];
const faults = ['timeout', 'stall', 'broken', 'server_error'] as const;

describe('failures of requests', () => {
  it.each(faults)('three of kind %s in a row are one too many, and a whole answer forgives two', (kind) => {
    const watched = new Watched().fail(kind).fail(kind);
    expect(watched.standing).toBe('ready');
    watched
      .apply(...completed)
      .fail(kind)
      .fail(kind);
    expect(watched.standing).toBe('ready');
    expect(watched.fail(kind).standing).toBe('down');
  });

  it('one that gives five answers meanwhile may fail five times more', () => {
    const watched = new Watched();
    const fail = () => watched.apply({ type: 'failed', kind: 'broken', speaking: 5 });
    for (let count = 0; count < 7; count += 1) fail();
    expect(watched.standing).toBe('ready');
    expect(fail().standing).toBe('down');
  });

  it('answers that begin and break off count, although each began well', () => {
    const watched = new Watched();
    for (let count = 0; count < 3; count += 1)
      watched.apply({ type: 'sent' }, { type: 'begun' }, { type: 'failed', kind: 'broken' });
    expect(watched.standing).toBe('down');
  });

  it('where nothing listens there is nothing to wait for', () => {
    expect(new Watched().fail('connect').standing).toBe('down');
  });

  it.each(['declined', 'denied', 'model_gone'] as const)(
    'a thousand refusals of kind %s count nothing',
    (kind) => {
      const watched = new Watched();
      for (let count = 0; count < 1_000; count += 1) watched.fail(kind);
      expect(watched.health).toMatchObject({ state: 'ready', failures: 0 });
    },
  );

  it('429 and 503 make it busy for as long as it asks, within bounds', () => {
    const watched = new Watched().fail('refused', 5_000);
    expect(watched.later(4_999).standing).toBe('busy');
    expect(watched.later(1).standing).toBe('ready');
    watched.fail('refused', 10 * limits.busyMaxMs);
    expect(watched.later(limits.busyMaxMs).standing).toBe('ready');
  });
});

describe('coming back', () => {
  it('one request tries it after its time, no second one until that is decided', () => {
    const watched = new Watched().fail('connect');
    expect(watched.later(limits.downMs - 1).standing).toBe('down');
    expect(watched.later(1).standing).toBe('trial');
    expect(watched.apply({ type: 'sent' }).standing).toBe('down');
    expect(watched.apply({ type: 'begun' }).standing).toBe('ready');
  });

  it('a trial that fails waits twice as long, up to a bound', () => {
    const watched = new Watched().fail('connect');
    const waits = Array.from({ length: 8 }, () => {
      const waitMs = watched.health.untilMs - watched.nowMs;
      watched.later(waitMs).fail('timeout');
      return waitMs;
    });
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });

  it('a client that leaves during the trial decides nothing', () => {
    const watched = new Watched()
      .fail('connect')
      .later(limits.downMs)
      .apply({ type: 'sent' }, { type: 'abandoned' });
    expect(watched.standing).toBe('trial');
  });

  it('what has just come back falls at its next failure', () => {
    const watched = new Watched()
      .fail('connect')
      .later(limits.downMs)
      .apply({ type: 'sent' }, { type: 'begun' });
    expect(watched.apply({ type: 'failed', kind: 'broken' }).standing).toBe('down');
  });

  it('a refusal is an answer, and ends a trial well', () => {
    expect(new Watched().fail('connect').later(limits.downMs).fail('declined').standing).toBe('ready');
  });

  it('requests that were under way when it fell do not lengthen its time', () => {
    const watched = new Watched().fail('connect');
    const { untilMs } = watched.health;
    for (let count = 0; count < 50; count += 1) watched.apply({ type: 'failed', kind: 'broken' });
    expect(watched.health.untilMs).toBe(untilMs);
  });

  it('a probe that finds it alive lets a request try it at once, and no more than one', () => {
    const watched = new Watched().fail('connect').apply({ type: 'alive' });
    expect(watched.standing).toBe('trial');
    expect(watched.apply({ type: 'sent' }).standing).toBe('down');
  });
});

describe('probes', () => {
  it('starting is no failure, however long it takes', () => {
    const watched = new Watched();
    for (let count = 0; count < 100; count += 1) {
      watched.later(limits.idleProbeMs).apply({ type: 'starting' });
      expect(watched.standing).toBe('busy');
    }
    expect(watched.fail('connect').standing).toBe('busy');
    expect(watched.apply({ type: 'alive' }).standing).toBe('ready');
  });

  it('crowded is busy until it says otherwise, or says nothing any more', () => {
    const watched = new Watched().apply({ type: 'load', isCrowded: true });
    expect(watched.standing).toBe('busy');
    expect(watched.apply({ type: 'load', isCrowded: false }).standing).toBe('ready');
    watched.apply({ type: 'load', isCrowded: true }).later(2 * limits.loadProbeMs);
    expect(watched.standing).toBe('ready');
  });

  it('a probe does not forgive what requests met', () => {
    const watched = new Watched().fail('stall').fail('stall').apply({ type: 'alive' }).fail('stall');
    expect(watched.standing).toBe('down');
  });

  it('are due when nobody uses it, and while it is down', () => {
    const { health, nowMs } = new Watched().apply(...completed);
    expect(probeDueMs(health, 0, limits)).toBe(nowMs + limits.idleProbeMs);
    expect(probeDueMs(health, 1, limits)).toBe(Number.POSITIVE_INFINITY);
    const fallen = new Watched().fail('connect');
    expect(probeDueMs(fallen.health, 0, limits)).toBe(fallen.nowMs + limits.downMs);
  });
});

it('whatever it hears, one that is down is tried again in bounded time, by one request at a time', () => {
  const signal = fc.oneof<fc.Arbitrary<Signal>[]>(
    fc
      .constantFrom('sent', 'begun', 'completed', 'abandoned', 'alive', 'starting', 'lifeless')
      .map((type) => ({ type })),
    fc.record({ type: fc.constant('load' as const), isCrowded: fc.boolean() }),
    fc.record({
      type: fc.constant('failed' as const),
      kind: fc.constantFrom(...FAILURE_KINDS),
      retryAfterMs: fc.option(fc.nat({ max: 1e9 }), { nil: undefined }),
    }),
  );
  const steps = fc.array(fc.tuple(fc.nat({ max: 40_000 }), signal), { maxLength: 60 });
  fc.assert(
    fc.property(steps, (list) => {
      const watched = new Watched();
      for (const [ms, next] of list) {
        watched.later(ms).apply(next);
        if (watched.standing === 'trial') {
          const tried = new Watched();
          Object.assign(tried, { nowMs: watched.nowMs, health: watched.health });
          expect(tried.apply({ type: 'sent' }).standing).toBe('down');
        }
      }
      // Whatever is under way ends, and all bounds pass.
      watched.apply({ type: 'abandoned' }).later(Math.max(limits.downMaxMs, limits.busyMaxMs));
      expect(['ready', 'trial']).toContain(watched.standing);
    }),
    { numRuns: 300 },
  );
});
