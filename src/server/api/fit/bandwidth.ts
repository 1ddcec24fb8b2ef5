/** Measures how fast this machine reads memory, which bounds a CPU's generation: each token reads all weights once. */
import { once } from 'node:events';
import { createHash } from 'node:crypto';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { Type } from 'typebox';
import { readRecord, writeRecord } from '../../../lib/files/record-file.ts';
import { builtFile } from '../../../lib/base/package-folder.ts';

const MIB = 2 ** 20;
/** Larger than the caches of usual processors, all threads together. */
const LEAST_BYTES = 256 * MIB;
const LEAST_PER_THREAD = 32 * MIB;
/** More threads than this read no faster on any machine. */
const MOST_THREADS = 16;
const ROUNDS = 3;
const ROUND_MS = 60;

const Kept = Type.Object({ schema: Type.Literal(1), bytesPerS: Type.Number({ exclusiveMinimum: 0 }) });

export interface Bandwidth {
  readonly bytesPerS: number;
  /** Other programs used the processor, so the true value is higher, and this one is not saved. */
  readonly busy: boolean;
}

/** Measured once per machine and saved in the tuning folder of the home; takes half a second. */
export async function memoryBandwidth(home: string): Promise<Bandwidth> {
  const file = path.join(home, 'tuning', `bandwidth-${machineDigest()}.json`);
  const kept = await readRecord(file, Kept);
  if (kept !== null) return { bytesPerS: kept.bytesPerS, busy: false };
  const threads = Math.min(availableParallelism(), MOST_THREADS);
  const busy = (loadavg()[0] ?? 0) > threads / 2;
  const bytesPerS = await measureBandwidth(threads);
  if (!busy) await writeRecord(file, { schema: 1, bytesPerS });
  return { bytesPerS, busy };
}

export async function measureBandwidth(threads: number): Promise<number> {
  const bytes = Math.max(LEAST_PER_THREAD, Math.ceil(LEAST_BYTES / threads));
  const options = { workerData: { bytes, ms: ROUND_MS }, execArgv: [] };
  const workers = Array.from(
    { length: threads },
    () => new Worker(builtFile('server/api/fit/read-thread.js'), options),
  );
  try {
    await Promise.all(workers.map((worker) => once(worker, 'message')));
    let best = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const speeds = await Promise.all(workers.map(readOnce));
      best = Math.max(
        best,
        speeds.reduce((sum, speed) => sum + speed, 0),
      );
    }
    return Math.round(best);
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

async function readOnce(worker: Worker): Promise<number> {
  const answer = once(worker, 'message');
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  worker.postMessage('read');
  const [speed] = (await answer) as [number];
  return speed;
}

function machineDigest(): string {
  const machine = `${cpus()[0]?.model ?? 'unknown'} ${availableParallelism()} ${totalmem()}`;
  return createHash('sha256').update(machine).digest('hex').slice(0, 16);
}
