/**
 * The seal of a service that was started with `--sealed`: made once it listens, tried at once, and stated in the signed
 * identity and in every record.
 */
import { join } from 'node:path';
import { connectionRefusal, type SealKind, sealNetwork } from '../../lib/seal/seal.ts';
import { instanceFolder } from './instance.ts';

export interface SealStatement {
  /** Mechanism that keeps the service and its workers from opening connections. */
  readonly network: SealKind;
  /** Mechanism that keeps workers from files other than models; null until a worker has reported it. */
  readonly worker_files: 'landlock' | 'none' | null;
}

/** Seals this process and tries the seal on the port that it listens on itself; throws where it does not hold. */
export async function sealServer(address: {
  readonly host: string;
  readonly port: number;
}): Promise<SealKind> {
  const network = await sealNetwork('closed');
  const refusal = await connectionRefusal(address.port, address.host);
  if (refusal !== 'EACCES')
    throw new Error(`the seal does not hold: a connection was not forbidden (${refusal ?? 'it was made'})`);
  return network;
}

/** A file that no worker may be able to read. */
export const forbiddenFile = (home: string): string => join(instanceFolder(home), 'key.pem');
