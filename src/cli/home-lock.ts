/** The lock of a home folder: two servers of one home would each plan the same memory and write the same files. */
import path from 'node:path';
import { isLoopback } from '../config/listen-address.ts';
import { type HolderRecord, lockHolder, type OwnerLock, takeLock } from '../store/lock/owner-lock.ts';

const LOOPBACK = '127.0.0.1';

/** Fails at once with the holder's name if another program has it. */
export function takeHome(home: string, purpose: string): Promise<OwnerLock> {
  return takeLock(lockFile(home), { purpose, what: 'This home folder', waitMs: 0 });
}

export function homeHolder(home: string): Promise<HolderRecord | null> {
  return lockHolder(lockFile(home));
}

interface Address {
  readonly host: string;
  readonly port: number;
}

export function servingAt({ host, port }: Address): string {
  return `hearth serve${host === LOOPBACK ? '' : ` --host ${host}`} --port ${port}`;
}

export function servedAddress(purpose: string): Address | null {
  const [, host = LOOPBACK, port] = /^hearth serve(?: --host (\S+))? --port (\d+)$/.exec(purpose) ?? [];
  return port === undefined ? null : { host, port: Number(port) };
}

export const isServing = (purpose: string): boolean => purpose.startsWith('hearth serve');

export function unanswered(
  { url, ...address }: Address & { readonly url: string },
  holder: Pick<HolderRecord, 'pid' | 'purpose'> | null,
): string {
  const nobody = `no server answers at ${url}`;
  if (holder === null) {
    return isLoopback(address.host)
      ? `${nobody}; start one with: hearth serve`
      : `${nobody}; check SVC_HOST and SVC_PORT, or start one there with: hearth serve`;
  }
  const { pid, purpose } = holder;
  if (purpose === servingAt(address))
    return `${nobody}; the service of this home, process ${pid}, is starting, or ending once its answers have finished`;
  const other = servedAddress(purpose);
  const remedy = other === null ? '' : `; to reach it, set SVC_HOST=${other.host} SVC_PORT=${other.port}`;
  return `${nobody}; this home is used by process ${pid}: ${purpose}${remedy}`;
}

const lockFile = (home: string): string => path.join(home, 'serve.lock');
