/**
 * worker/cache/disk owns the files of the prompt cache: their format, encryption, number and size. It knows no
 * sequences and nothing of the native library.
 * This file defines the format: a header and rows, each encrypted and authenticated (AES-256-GCM). The key is derived
 * from the key of the instance, the file's salt, the conditions of the state and its owner. So a file that was changed,
 * cut, moved to another home or written by another engine build fails to open.
 *
 *   magic 8 | salt 32 | bytes of the encrypted header 4 | encrypted header, tag 16 | encrypted rows, tag 16
 */
import { createCipheriv, createDecipheriv, hkdfSync, type DecipherGCM, type CipherGCM } from 'node:crypto';

const MAGIC = Buffer.from('HRTHKV01', 'latin1');
const SALT_BYTES = 32;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const CIPHER = 'aes-256-gcm';
/** A key encrypts one text only, so the nonce may be the same for all. */
const NONCE = Buffer.alloc(12);
const HEADER_AT = MAGIC.length + SALT_BYTES + 4;
const MOST_HEADER_BYTES = 4 * 1024 * 1024;

export interface FileKey {
  /** 32 bytes that only this home has. */
  readonly secret: Uint8Array;
  /** Conditions of the state: weights, engine build, types, window. */
  readonly belongsTo: string;
}

interface EncryptedStart {
  readonly bytes: Buffer;
  readonly rows: CipherGCM;
}

export function encryptHeader(key: FileKey, salt: Buffer, header: Buffer, owner: string): EncryptedStart {
  const start = Buffer.alloc(HEADER_AT);
  MAGIC.copy(start);
  salt.copy(start, MAGIC.length);
  start.writeUInt32LE(header.length + TAG_BYTES, HEADER_AT - 4);
  const cipher = createCipheriv(CIPHER, keyFor(key, salt, 'header'), NONCE);
  cipher.setAAD(start);
  const encrypted = Buffer.concat([cipher.update(header), cipher.final(), cipher.getAuthTag()]);
  const rows = createCipheriv(CIPHER, keyFor(key, salt, `rows ${owner}`), NONCE);
  // Rows of one file do not decrypt with the header of another.
  rows.setAAD(cipher.getAuthTag());
  return { bytes: Buffer.concat([start, encrypted]), rows };
}

export function endOfRows(rows: CipherGCM): Buffer {
  return Buffer.concat([rows.final(), rows.getAuthTag()]);
}

export function headerEnd(start: Buffer): number | null {
  if (start.length < HEADER_AT || !start.subarray(0, MAGIC.length).equals(MAGIC)) return null;
  const encrypted = start.readUInt32LE(HEADER_AT - 4);
  return encrypted > TAG_BYTES && encrypted <= MOST_HEADER_BYTES ? HEADER_AT + encrypted : null;
}

export function decryptHeader(key: FileKey, start: Buffer): Buffer | null {
  const end = headerEnd(start);
  if (end === null || start.length < end) return null;
  const cipher = createDecipheriv(CIPHER, keyFor(key, readSalt(start), 'header'), NONCE);
  cipher.setAAD(start.subarray(0, HEADER_AT));
  cipher.setAuthTag(start.subarray(end - TAG_BYTES, end));
  return proven(() =>
    Buffer.concat([cipher.update(start.subarray(HEADER_AT, end - TAG_BYTES)), cipher.final()]),
  );
}

/** Decrypts the rows. Its output is not authenticated before `final()` returns. */
export function rowDecipher(key: FileKey, start: Buffer, tag: Buffer, owner: string): DecipherGCM {
  const end = headerEnd(start) ?? 0;
  const rows = createDecipheriv(CIPHER, keyFor(key, readSalt(start), `rows ${owner}`), NONCE);
  rows.setAAD(start.subarray(end - TAG_BYTES, end));
  rows.setAuthTag(tag);
  return rows;
}

export const fileBytes = (headerEndBytes: number, rowBytes: number): number =>
  headerEndBytes + rowBytes + TAG_BYTES;

export const FORM = { saltBytes: SALT_BYTES, tagBytes: TAG_BYTES, headerAt: HEADER_AT } as const;

export function proven<T>(open: () => T): T | null {
  try {
    return open();
  } catch {
    return null;
  }
}

function readSalt(start: Buffer): Buffer {
  return start.subarray(MAGIC.length, MAGIC.length + SALT_BYTES);
}

function keyFor({ secret, belongsTo }: FileKey, salt: Buffer, purpose: string): Buffer {
  return Buffer.from(
    hkdfSync('sha256', secret, salt, `hearth prompt cache\n${purpose}\n${belongsTo}`, KEY_BYTES),
  );
}
