/** The name of a trust domain on the disk: workers of all models recognise it, and nothing else reveals the domain. */
import { createHmac } from 'node:crypto';

export const TAG_CHARS = 16;

/** Ignores adapters: all owners of one domain share its quota. */
export const ownerDomain = (owner: string): string => owner.split('\n', 1)[0] ?? '';

export const domainTag = (secret: Uint8Array, owner: string): string =>
  createHmac('sha256', secret).update(ownerDomain(owner)).digest('hex').slice(0, TAG_CHARS);
