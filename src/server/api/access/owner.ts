/** The owner of a request and of its stored data follows from the accepted key alone, not from other client input. */
import { hash } from 'node:crypto';

export const ownerOfKey = (key: string): string => hash('sha256', key, 'base64url');

export const ownerOfHash = (sha256: string): string => Buffer.from(sha256, 'hex').toString('base64url');

/** Owner of all requests without a key. No key is empty, so once keys exist no request has this owner. */
export const NOBODY = ownerOfKey('');
