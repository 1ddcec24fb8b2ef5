/** Secrets that only this home directory has, from its instance key; another key gives others. */
import { hkdfSync } from 'node:crypto';
import type { InstanceKeys } from './instance.ts';

/** 32 bytes, hex. One purpose's secret says nothing of another's, nor of the key. */
export function derivedSecret({ privateKey }: Pick<InstanceKeys, 'privateKey'>, purpose: string): string {
  const key = privateKey.export({ type: 'pkcs8', format: 'der' });
  return Buffer.from(hkdfSync('sha256', key, '', `hearth ${purpose}`, 32)).toString('hex');
}
