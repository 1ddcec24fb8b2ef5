/**
 * The seal of a service with `--sealed`: applied after it listens, tested immediately, and stated in the signed
 * identity and in every record.
 */
import { join } from 'node:path';
import { connectionRefusal, type SealKind, sealNetwork } from '../../lib/seal/seal.ts';
import { instanceFolder } from './instance.ts';

export interface SealStatement {
  readonly network: SealKind;
  /** Mechanism that keeps workers from files other than models; null until a worker has reported it. */
  readonly worker_files: 'landlock' | 'none' | null;
}

/** Tests the seal on the port that this process listens on; throws if it is not effective. */
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

export const forbiddenFile = (home: string): string => join(instanceFolder(home), 'key.pem');
