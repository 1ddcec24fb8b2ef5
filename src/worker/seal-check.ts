import { open } from 'node:fs/promises';
import type { WorkerSeal } from '../contract/load.ts';
import { connectionRefusal } from '../lib/seal/seal.ts';
import { guardSockets } from '../lib/seal/socket-guard.ts';

/** No listener is needed: a refusal by the other side would show that the attempt left this process. */
const ANY_PORT = 9;

export async function checkSeal(): Promise<WorkerSeal | null> {
  const { SVC_SEALED: network, SVC_FORBIDDEN: forbidden } = process.env;
  if (network !== 'seccomp' && network !== 'socket-guard') return null;
  if (network === 'socket-guard') guardSockets();
  const refusal = await connectionRefusal(ANY_PORT);
  if (refusal !== 'EACCES')
    throw new Error(`the seal does not hold: a connection was not forbidden (${refusal ?? 'it was made'})`);
  return { network, files: (await isForbidden(forbidden)) ? 'landlock' : 'none' };
}

async function isForbidden(path: string | undefined): Promise<boolean> {
  if (path === undefined) return false;
  try {
    await (await open(path, 'r')).close();
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES';
  }
}
