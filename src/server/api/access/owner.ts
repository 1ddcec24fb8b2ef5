/** The owner of a request and of its stored data follows from the accepted key alone, not from other client input. */
import { hash } from 'node:crypto';
import type { KeyRecord } from '../../../store/keys/key-file.ts';

export const ownerOfKey = (key: string): string => hash('sha256', key, 'base64url');

export const ownerOfRecord = ({ sha256, firstSha256 = sha256 }: KeyRecord): string =>
  Buffer.from(firstSha256, 'hex').toString('base64url');

/** Owner of all requests without a key. No key is empty, so once keys exist no request has this owner. */
export const NOBODY = ownerOfKey('');
