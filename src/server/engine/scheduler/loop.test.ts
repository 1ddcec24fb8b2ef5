/** Targets that no backend can plan: they fail alone, and the engine goes on. */
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ECHO_ENGINE, echoBackend } from '../../../../test/support/engine/echo-backend.ts';
import { generateJob } from '../../../../test/support/engine/jobs.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import { silentLogger } from '../../../lib/base/logger.ts';
import { type Backend, type ModelTarget, UNKNOWN_WINDOW } from '../ports.ts';
import { createEngine } from './loop.ts';

const broken: Backend = {
  ...echoBackend,
  memoryNeed: () => {
    throw new Error('no estimate');
  },
};
/** Passes the question at the door, and fails in the middle of the walk. */
function brokenLater(): Backend {
  let asked = 0;
  return {
    ...echoBackend,
    memoryNeed: (...question) => {
      asked += 1;
      return asked === 1 ? null : broken.memoryNeed(...question);
    },
  };
}

function world() {
  const loads: object[] = [];
  const engine = createEngine({
    backends: { [ECHO_ENGINE]: echoBackend, broken, brokenLater: brokenLater() },
    clock: systemClock,
    log: { ...silentLogger, info: (facts, text) => void (text.startsWith('Loading') && loads.push(facts)) },
    freeMemory: () => [],
  });
  const submit = (engineName: string, window = 64) => {
    const target: ModelTarget = {
      modelId: engineName,
      kind: 'chat',
      engine: engineName as ModelTarget['engine'],
      capabilities: { canFreeze: false, canExplain: false, canTokenize: false, canRank: false },
      trainedCtx: window,
      defaultCtx: window,
      revision: '1',
      source: null,
    };
    const job = generateJob({ prompt: { kind: 'chat', turns: [{ role: 'user', content: 'one two' }] } });
    const ends: (Error | null)[] = [];
    engine.submit(
      { target, job, clientKey: 'a', numCtx: null, keepAliveMs: null },
      new AbortController().signal,
      {
        onEvent: () => {},
        onEnd: (failure) => void ends.push(failure),
      },
    );
    return ends;
  };
  return { engine, submit, loads };
}

describe('a target that cannot be planned', () => {
  it.each(['nobody', 'broken'])(
    'of engine %s fails, a microtask later, and leaves nothing open',
    async (name) => {
      const { engine, submit } = world();
      const ends = submit(name);
      expect(ends).toEqual([]);
      await Promise.resolve();
      expect(ends).toMatchObject([{ code: 'internal' }]);
      expect(engine.residencies()).toEqual([]);
      await engine.drain(60_000);
      expect(ends).toMatchObject([{ code: 'internal' }]);
    },
  );

  it.each(['nobody', 'broken', 'brokenLater'])('of engine %s does not disturb the others', async (name) => {
    const { engine, submit } = world();
    const bad = submit(name);
    const good = submit(ECHO_ENGINE);
    while (good.length === 0 || bad.length === 0) await setImmediate();
    expect(good).toEqual([null]);
    expect(bad).toMatchObject([{ code: 'internal' }]);
    await engine.drain(60_000);
  });
});

it.each([
  [64, { numCtx: 64, windowIs: 'set' }],
  [UNKNOWN_WINDOW, {}],
])('logs the window of a load only where it is known: %d', async (window, known) => {
  const { submit, loads } = world();
  const ends = submit(ECHO_ENGINE, window);
  while (ends.length === 0) await setImmediate();
  const entries = Object.entries(loads[0] ?? {});
  expect(Object.fromEntries(entries.filter(([name]) => /ctx|window/i.test(name)))).toEqual(known);
  expect(loads[0]).toMatchObject({ slots: expect.any(Number) });
});
