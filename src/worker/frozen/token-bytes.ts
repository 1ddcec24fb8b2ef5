/** Token ids as little-endian u32, the form that records carry and hash. */
import { createHash } from 'node:crypto';

export function decodeTokens(base64: string): Uint32Array | null {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length === 0 || bytes.length % 4 !== 0) return null;
  return Uint32Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readUInt32LE(index * 4));
}

export function encodeTokens(tokens: Uint32Array): Buffer {
  const bytes = Buffer.alloc(tokens.length * 4);
  for (const [index, token] of tokens.entries()) bytes.writeUInt32LE(token, index * 4);
  return bytes;
}

export const sha256OfTokens = (tokens: Uint32Array): string => sha256(encodeTokens(tokens));

export const sha256 = (content: Uint8Array | string): string =>
  createHash('sha256').update(content).digest('hex');
