import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { findLauncher } from '../../../src/server/engine/local/child/launcher.ts';
import { DEFAULT_WORKER_LIMITS } from '../../../src/server/engine/local/limits.ts';
import { systemClock } from '../../../src/lib/base/clock.ts';
import { leftOut } from '../../support/left-out.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import {
  backendOver,
  exists,
  fixture,
  keepingLog,
  loadFrom,
  never,
  outcome,
  pidOf,
  run,
  textJob,
  types,
} from './worker-rig.ts';

const launcher = await findLauncher(process.platform);
const isWatched = launcher.includes('--pdeathsig');
const hasNoCore = launcher.includes('--core=0:0');

it('a loaded model runs jobs and ends when it is unloaded', async () => {
  const backend = backendOver('honest');
  expect(backend.backendFacts()).toBeNull();
  const model = await loadFrom(backend);
  expect(model.facts).toMatchObject({ numCtx: 64, slots: 4 });
  expect(backend.backendFacts()).toMatchObject({ folder: '/fake' });
  const { events, error } = await outcome(run(model, textJob('hello', 3), never));
  expect(error).toBeUndefined();
  expect(types(events)).toEqual(['started', 'text', 'text', 'text', 'done']);
  await model.unload();
  await model.unload();
  expect(await model.gone).toEqual({ reason: null });
  expect(exists(pidOf(model))).toBe(false);
});

it('the spare is used by the next load, and replaced when nothing runs', async () => {
  let forks = 0;
  const guard = async (): Promise<void> => {
    forks += 1;
  };
  const clock = new ManualClock();
  const backend = backendOver('patient', { backendGuard: guard, clock });
  const { spareLullMs } = DEFAULT_WORKER_LIMITS;
  backend.prepare();
  backend.prepare();
  const first = await loadFrom(backend);
  expect(forks).toBe(1);
  await clock.advance(spareLullMs);
  expect(forks).toBe(2);

  const second = await loadFrom(backend);
  expect(pidOf(first)).not.toBe(pidOf(second));
  expect(forks).toBe(2);
  const abort = new AbortController();
  const running = outcome(run(second, textJob('x', null), abort.signal));
  await clock.advance(spareLullMs);
  expect(forks).toBe(2);
  abort.abort();
  await running;
  await clock.advance(spareLullMs);
  expect(forks).toBe(3);
});

it('libraries change only while no model is loaded, and the spare gives way to a worker that has them', async () => {
  let [forks, changes] = [0, 0];
  const backend = backendOver('honest', {
    backendGuard: async () => {
      forks += 1;
    },
    betweenModels: async () => {
      changes += 1;
      return changes === 2;
    },
    // No further spare is started by itself.
    clock: new ManualClock(),
  });
  backend.prepare();
  const [first, second] = await Promise.all([loadFrom(backend), loadFrom(backend)]);
  expect([forks, changes]).toEqual([2, 1]);
  await first.unload();
  await backend.boot();
  await loadFrom(backend).then((model) => model.unload());
  expect([forks, changes]).toEqual([3, 1]);
  await second.unload();
  await backend.boot();
  await loadFrom(backend);
  expect([forks, changes]).toEqual([5, 2]);
});

it('a load whose worker does not start is none, so that libraries may change before the next', async () => {
  let [isBroken, changes] = [true, 0];
  const backend = backendOver('honest', {
    backendGuard: async () => {
      if (isBroken) throw new Error('no worker today');
    },
    betweenModels: async () => {
      changes += 1;
      return true;
    },
    limits: { bootRetryMs: 0 },
  });
  await expect(loadFrom(backend)).rejects.toThrow();
  isBroken = false;
  await loadFrom(backend);
  expect(changes).toBe(2);
});

it('chat and embedding models share one spare', async () => {
  let forks = 0;
  const guard = async (): Promise<void> => {
    forks += 1;
  };
  const clock = new ManualClock();
  const backend = backendOver('patient', { backendGuard: guard, clock });
  const counts: number[] = [];
  backend.prepare();
  for (const kind of ['chat', 'embedding', 'embedding', 'chat'] as const) {
    await loadFrom(backend, { kind });
    counts.push(forks);
    await clock.advance(DEFAULT_WORKER_LIMITS.spareLullMs);
  }
  expect(counts).toEqual([1, 2, 3, 4]);
});

it('a spare is started beside jobs that do not end', async () => {
  let forks = 0;
  const guard = async (): Promise<void> => {
    forks += 1;
  };
  const clock = new ManualClock();
  const limits = { heartbeatMs: 1e9, spareLatestMs: 3 * DEFAULT_WORKER_LIMITS.spareLullMs };
  const backend = backendOver('patient', { backendGuard: guard, clock, limits });
  const model = await loadFrom(backend);
  const abort = new AbortController();
  const running = outcome(run(model, textJob('x', null), abort.signal));
  await clock.advance(limits.spareLatestMs - 1);
  expect(forks).toBe(1);
  await clock.advance(1);
  expect(forks).toBe(2);
  abort.abort();
  await running;
});

it('a spare that dies while it waits is replaced by a fresh worker when a load comes', async () => {
  const backend = backendOver('honest');
  const first = await loadFrom(backend);
  await first.unload();
  const children = await childrenOf(process.pid);
  for (const pid of children) process.kill(pid, 'SIGKILL');
  const model = await loadFrom(backend);
  expect(types((await outcome(run(model, textJob('x'), never))).events)).toContain('done');
});

it('refused bytes of the backend stop every fork', async () => {
  const backend = backendOver('honest', {
    backendGuard: () => Promise.reject(new Error('libllama.so has changed since the boot')),
  });
  await expect(loadFrom(backend)).rejects.toMatchObject({
    code: 'native_unavailable',
    detail: { reason: 'libllama.so has changed since the boot' },
  });
  expect(backend.backendFacts()).toEqual({ failed: 'libllama.so has changed since the boot' });
});

it.each([
  ['boot-failed', 'the prebuilt addon is missing'],
  ['crash-on-boot', 'exit code 3'],
  ['no-such-script', 'exit code 1'],
])('a child that does not boot (%s) makes the backend unavailable with its reason', async (name, reason) => {
  const backend = backendOver(name);
  await expect(loadFrom(backend)).rejects.toMatchObject({ code: 'native_unavailable' });
  expect(backend.backendFacts()).toEqual({ failed: expect.stringContaining(reason) });
});

it('a failed boot is not repeated by each request, but it is later', async () => {
  let forks = 0;
  let nowMs = 0;
  const clock = { monotonicMs: () => nowMs, unixMs: () => 0, after: () => () => {} };
  const guard = async (): Promise<void> => {
    forks += 1;
  };
  const backend = backendOver('boot-failed', { clock, backendGuard: guard });
  await expect(loadFrom(backend)).rejects.toMatchObject({ code: 'native_unavailable' });
  await expect(loadFrom(backend)).rejects.toMatchObject({ code: 'native_unavailable' });
  expect(forks).toBe(1);
  nowMs += 60_000;
  await expect(loadFrom(backend)).rejects.toMatchObject({ code: 'native_unavailable' });
  expect(forks).toBe(2);
});

it('a spare that does not boot takes nothing from the worker that serves, and is tried again', async () => {
  let forks = 0;
  const broken = new Set<number>();
  const guard = async (): Promise<void> => {
    forks += 1;
    if (broken.has(forks)) throw new Error('too many processes');
  };
  const clock = new ManualClock();
  const log = keepingLog();
  const backend = backendOver('patient', { backendGuard: guard, clock, log });
  const first = await loadFrom(backend);
  for (const fork of [2, 3]) broken.add(fork);
  await clock.advance(DEFAULT_WORKER_LIMITS.spareLullMs);
  expect(forks).toBe(2);
  expect(log.lines).toHaveLength(1);
  expect(backend.backendFacts()).toMatchObject({ folder: '/fake' });

  await clock.advance(DEFAULT_WORKER_LIMITS.bootRetryMs);
  expect(forks).toBe(3);
  expect(log.lines).toHaveLength(1);
  const second = await loadFrom(backend);
  expect(forks).toBe(4);
  await Promise.all([first.unload(), second.unload()]);
});

it('a backend whose last worker is gone is as good as its last boot', async () => {
  let refuse = false;
  const guard = async (): Promise<void> => {
    if (refuse) throw new Error('too many processes');
  };
  const clock = new ManualClock();
  const backend = backendOver('patient', { backendGuard: guard, clock });
  const model = await loadFrom(backend);
  refuse = true;
  await clock.advance(DEFAULT_WORKER_LIMITS.spareLullMs);
  await model.unload();
  expect(backend.backendFacts()).toEqual({ failed: 'too many processes' });
});

it('a child that ignores signals and its closed channel is killed after the grace time', async () => {
  const backend = backendOver('ignore-sigterm', { limits: { graceMs: 50 } });
  const model = await loadFrom(backend);
  process.kill(pidOf(model), 'SIGTERM');
  expect(exists(pidOf(model))).toBe(true);
  await model.unload();
  expect(exists(pidOf(model))).toBe(false);
  expect(await model.gone).toEqual({ reason: null });
});

it('close ends every worker, the spare included, and refuses further loads', async () => {
  const backend = backendOver('honest');
  const model = await loadFrom(backend);
  await backend.close();
  expect(await model.gone).toEqual({ reason: null });
  expect(await childrenOf(process.pid)).toEqual([]);
  await expect(loadFrom(backend)).rejects.toMatchObject({ code: 'native_unavailable' });
});

it('the environment of a child holds nothing but what is listed', async () => {
  const canaries = {
    LD_PRELOAD: '/canary.so',
    GLIBC_TUNABLES: 'glibc.malloc.check=3',
    NODE_OPTIONS: '--require=/canary.js',
    GGML_BACKEND_PATH: '/canary.so',
    SVC_API_KEY: 'secret',
    HF_TOKEN: 'secret',
  };
  const backend = backendOver('tell-environment', {
    hostEnv: { PATH: '/usr/bin:/bin', HOME: '/home/somebody', ...canaries },
  });
  const model = await loadFrom(backend);
  const { events } = await outcome(run(model, textJob('x'), never));
  const told = JSON.parse(events.map((event) => (event.type === 'text' ? event.text : '')).join(''));
  const { NODE_CHANNEL_FD: _fd, NODE_CHANNEL_SERIALIZATION_MODE: _mode, ...env } = told.env;
  expect(env).toEqual({
    PATH: '/usr/bin:/bin',
    HOME: '/home/somebody',
    LANG: 'C.UTF-8',
    GGML_NO_BACKTRACE: '1',
    UV_THREADPOOL_SIZE: '4',
    ...(process.platform === 'linux' ? { GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1' } : {}),
    SVC_GPU: 'off',
    SVC_PARENT_PID: String(process.pid),
  });
  expect(told.ppid).toBe(process.pid);
  if (process.platform === 'linux') {
    expect(told.oom).toBe('500');
    if (hasNoCore) expect(told.limits).toMatch(/Max core file size +0 +0 /);
    if (isWatched) expect(told.status).toMatch(/^NoNewPrivs:\t1$/m);
  }
});

it.runIf(process.platform === 'linux' && isWatched)(
  `no worker outlives a killed server, not even a stopped one${leftOut(isWatched, 'there is no setpriv here')}`,
  async () => {
    const script = fileURLToPath(new URL('./fixtures/doomed-server.mjs', import.meta.url));
    const server = spawn(process.execPath, [script, fixture('ignore-sigterm')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(createInterface({ input: server.stdout }), 'line')) as [string];
    const pids = (JSON.parse(line) as { children: number[] }).children;
    expect(pids.length).toBeGreaterThanOrEqual(2);
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    const closed = Promise.all(pids.map(gone));
    server.kill('SIGKILL');
    await closed;
  },
);

it('an aborted load ends its worker', async () => {
  const abort = new AbortController();
  const clock = {
    ...systemClock,
    after: (delayMs: number, callback: () => void) => {
      // The child is told to load right after the limit on it begins.
      if (delayMs === DEFAULT_WORKER_LIMITS.loadMs) queueMicrotask(() => abort.abort());
      return systemClock.after(delayMs, callback);
    },
  };
  const backend = backendOver('hang-on-load', { clock });
  const load = loadFrom(backend, { signal: abort.signal });
  await expect(load).rejects.toMatchObject({ code: 'cancelled' });
  // The one child left, if it has been forked already, is the next spare.
  expect((await childrenOf(process.pid)).length).toBeLessThanOrEqual(1);
});

it('the log of a crash holds the end of standard error', async () => {
  const log = keepingLog();
  const backend = backendOver('crash-on-load', { log });
  await expect(loadFrom(backend)).rejects.toMatchObject({
    code: 'load_failed',
    detail: { model: 'm', reason: expect.stringContaining('SIGABRT') },
  });
  expect(log.lines).toContainEqual(
    expect.objectContaining({
      level: 'error',
      facts: expect.objectContaining({ stderr: expect.stringContaining('GGML_ASSERT(fake) failed') }),
    }),
  );
});

it('a worker that aborts because a GPU refuses memory fails its load as one that ran out of it', async () => {
  await expect(loadFrom(backendOver('abort-without-memory'))).rejects.toMatchObject({
    code: 'out_of_memory',
    detail: { model: 'm', reason: expect.stringContaining('signal SIGABRT: CUDA error: out of memory') },
  });
});

/** Direct children of a process. */
async function childrenOf(pid: number): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'pid=,stat=,comm=', '--ppid', String(pid)]);
  return stdout
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([id, stat, name]) => id !== undefined && id !== '' && !stat?.startsWith('Z') && name !== 'ps')
    .map(([id]) => Number(id));
}

/** Resolves when the process is gone or a zombie; polls the kernel, as there is no event for a stranger's child. */
async function gone(pid: number): Promise<void> {
  for (;;) {
    const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
    if (status === null || / Z /.test(status)) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
