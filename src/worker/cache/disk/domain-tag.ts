/** The name of a trust domain on the disk: files of all models tell by it whose they are, and nobody else who that is. */
import { createHmac } from 'node:crypto';

export const TAG_CHARS = 16;

/** Of an owner without its adapters: those of one domain share what it may hold. */
export const ownerDomain = (owner: string): string => owner.split('\n', 1)[0] ?? '';

export const domainTag = (secret: Uint8Array, owner: string): string =>
  createHmac('sha256', secret).update(ownerDomain(owner)).digest('hex').slice(0, TAG_CHARS);
