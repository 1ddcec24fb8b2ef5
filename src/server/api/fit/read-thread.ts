/**
 * A thread that reads memory as fast as it can, for bandwidth.ts: searching for an absent byte reads each byte once,
 * in the widest loads of the C library.
 */
import { parentPort, workerData } from 'node:worker_threads';

const { bytes, ms } = workerData as { readonly bytes: number; readonly ms: number };
/** Written, because unwritten pages would all map to the system's one zero page. */
const memory = Buffer.alloc(bytes, 1);

parentPort?.on('message', () => {
  const started = performance.now();
  let read = 0;
  do {
    memory.indexOf(0);
    read += bytes;
  } while (performance.now() - started < ms);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage((read * 1_000) / (performance.now() - started));
});
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage(0);
