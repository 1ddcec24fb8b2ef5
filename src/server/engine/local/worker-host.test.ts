/** Messages to a host that come in one turn of the event loop, as after a time in which its process was busy. */
import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { loadSpec } from '../../../../test/support/engine/jobs.ts';
import type { FromWorker } from '../../../contract/ipc.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import { silentLogger } from '../../../lib/base/logger.ts';
import { StderrTail } from './child/stderr-tail.ts';
import { DEFAULT_WORKER_LIMITS } from './limits.ts';
import { WorkerHost } from './worker-host.ts';

/** A process that is nothing but its messages. */
class FakeChild extends EventEmitter {
  readonly pid = 2 ** 22;
  readonly connected = false;
  readonly send = (): boolean => true;
  readonly kill = (): boolean => this.emit('exit', null, 'SIGKILL');
  readonly disconnect = (): boolean => true;
  say(...messages: readonly FromWorker[]): void {
    for (const message of messages) this.emit('message', message);
  }
}

const FACTS = {
  numCtx: 512,
  trainedCtx: 512,
  sequences: 4,
  threads: 1,
  calibration: [],
  gpuLayers: 0,
  contextBytes: 1_000,
  residentBytes: 2_000,
};
const LOADED = { type: 'loaded', facts: FACTS } as unknown as FromWorker;
/** All that a loaded model says by itself. */
const NEWS: readonly FromWorker[] = [
  {
    type: 'cache',
    tiers: { slotEvictions: 3, ram: null, disk: null, restores: 0, restoreMs: 0 },
  },
  { type: 'slots', slots: [{ slot: 0, keptTokens: 7 }] },
  { type: 'threads', threads: 2, confirmed: true },
  { type: 'attention', flash: false, ms: 1, tokens: 5 },
];

function hostOf(child: FakeChild): WorkerHost {
  const launched = { child: child as unknown as ChildProcess, stderr: new StderrTail(100) };
  return new WorkerHost(launched, { limits: DEFAULT_WORKER_LIMITS, clock: systemClock, log: silentLogger });
}

it.each(NEWS)('takes $type in the turn in which the load ends', async (news) => {
  const child = new FakeChild();
  const host = hostOf(child);
  const loaded = host.load(loadSpec(), new AbortController().signal);
  child.say(LOADED, news);
  expect(host.alive).toBe(true);
  expect(await loaded).toMatchObject({ numCtx: 512 });
  expect([host.cacheTiers?.slotEvictions, host.cellsUsed]).toEqual(
    news.type === 'cache' ? [3, undefined] : [undefined, news.type === 'slots' ? 7 : undefined],
  );
  child.emit('exit', 0, null);
});

it.each(NEWS)('ends a child that says $type before its load is over', async (news) => {
  const child = new FakeChild();
  const host = hostOf(child);
  const loaded = host.load(loadSpec(), new AbortController().signal);
  child.say(news);
  expect(host.alive).toBe(false);
  await expect(loaded).rejects.toMatchObject({ code: 'load_failed' });
});

it('ends a child that loads twice in one turn', async () => {
  const child = new FakeChild();
  const host = hostOf(child);
  const loaded = host.load(loadSpec(), new AbortController().signal);
  child.say(LOADED, LOADED);
  expect(host.alive).toBe(false);
  expect(await loaded).toMatchObject({ numCtx: 512 });
});
