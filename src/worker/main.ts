/**
 * worker owns the child process of one model: it boots the native library, loads the model, runs jobs and answers
 * pings. The server forks it with an IPC channel; it ends when that channel closes, whatever it is doing. It knows no
 * HTTP, no wire shapes and no registry.
 */
import { type FromWorker, ToWorker } from '../contract/ipc.ts';
import { compileEarly } from '../lib/base/compile-early.ts';
import { checksByType } from '../lib/base/deferred-validators.ts';
import { errorMessage } from '../lib/errors/svc-error.ts';
import { Outbox } from './outbox.ts';
import type { Dispatcher } from './dispatcher.ts';

const checks = checksByType(ToWorker);
const isMessage = (raw: unknown): raw is ToWorker =>
  typeof raw === 'object' && raw !== null && checks.get(Reflect.get(raw, 'type'))?.Check(raw) === true;

const outbox = new Outbox((message: FromWorker, onSent) => {
  // A closed channel means that the server has ended; `disconnect` ends this process.
  if (process.connected) process.send?.(message, undefined, undefined, onSent);
});

// Nothing here needs saving, and an orderly exit would wait for the running native call.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

// The server decides when a worker ends: a signal to the whole group must not cut answers that the server lets
// finish.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

let dispatcher: Dispatcher | undefined;

process.on('message', (raw: unknown) => {
  if (!isMessage(raw)) throw new Error('the server sent a message that the contract does not have');
  if (dispatcher !== undefined) dispatcher.receive(raw);
  else if (raw.type === 'ping') outbox.post({ type: 'pong', nonce: raw.nonce });
});

if (isOrphan()) process.kill(process.pid, 'SIGKILL');

try {
  // Imported here, so that a missing or broken library becomes a reason that the server receives.
  const [{ bootNative }, { Dispatcher }, { checkSeal }] = await Promise.all([
    import('./addon/boot.ts'),
    import('./dispatcher.ts'),
    import('./seal-check.ts'),
  ]);
  const seal = await checkSeal();
  const backend = await bootNative(process.env['SVC_GPU'], process.env['SVC_LIBRARIES'] ?? null);
  dispatcher = new Dispatcher(backend, outbox);
  outbox.post({ type: 'booted', backend: { ...backend.facts, ...(seal && { seal }) } });
  compileEarly();
} catch (error) {
  outbox.post({ type: 'boot_failed', reason: errorMessage(error) });
}

/** The server may have died before this process could listen for the end of its channel. */
function isOrphan(): boolean {
  const parent = process.env['SVC_PARENT_PID'];
  return !process.connected || (parent !== undefined && parent !== String(process.ppid));
}
