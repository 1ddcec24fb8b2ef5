import { readFile, stat } from 'node:fs/promises';
import { CliFailure, EXIT_CODES } from './context.ts';

/** More than the service accepts in a request. */
const MOST_FILE_BYTES = 64 * 1024 * 1024;

export async function bytesOfFile(file: string): Promise<Buffer> {
  try {
    const found = await stat(file);
    // Reading a pipe would block for ever.
    if (!found.isFile()) throw new CliFailure(`${file} is not a plain file.`);
    if (found.size > MOST_FILE_BYTES)
      throw new CliFailure(`${file} is larger than ${MOST_FILE_BYTES} bytes.`);
    return await readFile(file);
  } catch (cause) {
    if (cause instanceof CliFailure) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    throw new CliFailure(`${file} cannot be read (${code}).`, EXIT_CODES.failure, cause);
  }
}

export const textOfFile = async (file: string): Promise<string> => (await bytesOfFile(file)).toString('utf8');
