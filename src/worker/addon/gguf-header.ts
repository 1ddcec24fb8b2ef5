/**
 * Quick check of a GGUF header. The server checks files before; but one damaged since then, or a file of another
 * kind, would keep the library's reader busy until it is aborted a minute later.
 */
import { open } from 'node:fs/promises';

const HEADER_BYTES = 24;
const LEAST_ENTRY_BYTES = 13n;
const LEAST_TENSOR_BYTES = 32n;

export async function checkHeader(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const header = Buffer.alloc(HEADER_BYTES);
    const { bytesRead } = await file.read(header, 0, HEADER_BYTES, 0);
    if (bytesRead < HEADER_BYTES) throw new Error('the file is too short to be a GGUF model');
    if (header.toString('latin1', 0, 4) !== 'GGUF') throw new Error('the file does not begin with "GGUF"');
    const version = header.readUInt32LE(4);
    if (version !== 2 && version !== 3) throw new Error(`GGUF version ${version} is not supported`);
    const least =
      header.readBigUInt64LE(8) * LEAST_TENSOR_BYTES + header.readBigUInt64LE(16) * LEAST_ENTRY_BYTES;
    if (least > BigInt(size)) throw new Error('the file is shorter than its own table of contents');
  } finally {
    await file.close();
  }
}
