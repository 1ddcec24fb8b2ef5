/** Whose a request is, and whose is what is kept of it: the key that the guard accepted, and nothing else that a client sends. */
import { hash } from 'node:crypto';

/** The hash of a key: safe to keep, and the same after a restart. */
export const ownerOfKey = (key: string): string => hash('sha256', key, 'base64url');

/** Everybody, while the service asks for no key. No key is empty, so once keys exist no request has this owner. */
export const NOBODY = ownerOfKey('');
