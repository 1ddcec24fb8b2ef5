/** The owner of a request and of its stored data: the accepted key, and nothing else that a client sends. */
import { hash } from 'node:crypto';

/** The hash of a key: safe to keep, and the same after a restart. */
export const ownerOfKey = (key: string): string => hash('sha256', key, 'base64url');

export const ownerOfHash = (sha256: string): string => Buffer.from(sha256, 'hex').toString('base64url');

/** Everybody, while the service asks for no key. No key is empty, so once keys exist no request has this owner. */
export const NOBODY = ownerOfKey('');
