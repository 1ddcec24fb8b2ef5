/**
 * A record written part by part to a temporary file, so that little is left to write at its end. It ends with a line
 * break, which JSON text never contains inside, so that a reader can detect a partial record.
 */
import { type FileHandle, open, rm } from 'node:fs/promises';
import path from 'node:path';
import {
  errnoCode,
  makeFolder,
  moveDurably,
  PRIVATE_FILE,
  temporaryName,
  writeAll,
  writeFailure,
} from '../../lib/files/durable.ts';

export const END = '\n';

export class RecordDraft {
  readonly #path: string;
  readonly #temporary: string;
  readonly #mostBytes: number;
  readonly #parts: string[] = [];
  readonly #file: Promise<FileHandle>;
  #written: Promise<void>;
  #sizeBytes = 0;

  constructor(file: string, { ready, mostBytes }: { ready: Promise<unknown>; mostBytes: number }) {
    this.#path = file;
    this.#temporary = path.join(path.dirname(file), temporaryName(path.basename(file)));
    this.#mostBytes = mostBytes;
    this.#file = ready.then(() => opened(this.#temporary));
    this.#written = this.#file.then(() => undefined);
    this.#written.catch(() => undefined);
  }

  get text(): string {
    return this.#parts.join('');
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get #isTooLong(): boolean {
    return this.#sizeBytes > this.#mostBytes;
  }

  add(text: string): void {
    const bytes = Buffer.from(text);
    this.#sizeBytes += bytes.length;
    if (this.#isTooLong) return;
    this.#parts.push(text);
    this.#written = this.#written.then(async () => writeAll(await this.#file, bytes));
    this.#written.catch(() => undefined);
  }

  /**
   * Adds the last part. Once it resolves, the end of the process does not lose the record. False if it is too long;
   * nothing of it remains then.
   */
  async end(text: string): Promise<boolean> {
    this.add(text + END);
    try {
      await this.#written;
    } catch (error) {
      await this.drop().catch(() => undefined);
      throw writeFailure(this.#path, error);
    }
    if (!this.#isTooLong) return true;
    // Its last byte is missing, so the next start removes what cannot be removed now.
    await this.drop().catch(() => undefined);
    return false;
  }

  /** Renames it once its bytes are on the disk: a power cut does not lose it afterwards. */
  async settle(): Promise<void> {
    const file = await this.#file;
    try {
      await file.sync();
    } finally {
      await file.close();
    }
    await moveDurably(this.#temporary, this.#path);
  }

  async drop(): Promise<void> {
    const file = await this.#file.catch(() => null);
    if (file === null) return;
    await this.#written.catch(() => undefined);
    await file.close();
    await rm(this.#temporary, { force: true });
  }
}

async function opened(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'wx', PRIVATE_FILE);
  } catch (error) {
    if (errnoCode(error) !== 'ENOENT') throw error;
    await makeFolder(path.dirname(file));
    return open(file, 'wx', PRIVATE_FILE);
  }
}
