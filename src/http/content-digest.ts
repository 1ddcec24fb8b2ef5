import { createHash } from 'node:crypto';

/** The value of a `Content-Digest` header (RFC 9530) over the bytes of a body. */
export function contentDigest(body: Uint8Array | string): string {
  return `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
}
