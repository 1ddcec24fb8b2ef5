/** The id of an instance, from its first public key. Separate from the key's file, because verifiers compute it too. */
import { createHash } from 'node:crypto';

/** `svc-` and the first 26 letters of the base32 (RFC 4648, lower case) of the key's SHA-256: 130 bits. */
export function deriveInstanceId(spki: Buffer): string {
  return `svc-${base32(createHash('sha256').update(spki).digest()).slice(0, 26)}`;
}

function base32(bytes: Buffer): string {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
  let bits = 0;
  let held = 0;
  let text = '';
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += alphabet[(held >> bits) & 31];
    }
  }
  return bits > 0 ? text + alphabet[(held << (5 - bits)) & 31] : text;
}
