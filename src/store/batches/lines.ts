/** Files of lines: read in bounded memory, and appended to so that a crash leaves whole lines only. */
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { errnoCode, PRIVATE_FILE, writeAll, writeFailure } from '../../lib/files/durable.ts';

const BREAK = 0x0a;

export interface Line {
  /** Starts at 1; empty lines count. */
  readonly number: number;
  /** Without its line break; null if longer than the limit. */
  readonly bytes: Buffer | null;
  readonly end: number;
  readonly isWhole: boolean;
}

export async function* readLines(path: string, mostBytes: number): AsyncGenerator<Line, void, void> {
  let parts: Buffer[] = [];
  let length = 0;
  let number = 1;
  let end = 0;
  const taken = (isWhole: boolean): Line => {
    const bytes = length > mostBytes ? null : Buffer.concat(parts);
    const line = { number, bytes, end, isWhole };
    parts = [];
    length = 0;
    number += 1;
    return line;
  };
  const add = (piece: Buffer): void => {
    length += piece.length;
    end += piece.length;
    if (length <= mostBytes) parts.push(piece);
    else parts = [];
  };
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      let from = 0;
      for (let at = chunk.indexOf(BREAK); at >= 0; at = chunk.indexOf(BREAK, from)) {
        add(chunk.subarray(from, at));
        end += 1;
        from = at + 1;
        yield taken(true);
      }
      add(chunk.subarray(from));
    }
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return;
    throw error;
  }
  if (length > 0) yield taken(false);
}

/** Prefix by which a log recognises each of its lines. */
const HEAD_BYTES = 256;

export class LineLog {
  readonly #path: string;
  readonly #file: FileHandle;
  #written: Promise<void> = Promise.resolve();
  #sizeBytes: number;

  private constructor(path: string, file: FileHandle, sizeBytes: number) {
    this.#path = path;
    this.#file = file;
    this.#sizeBytes = sizeBytes;
  }

  /** Cuts off a half-written last line, and reports the beginning of every other. */
  static async open(path: string, onLine: (head: string) => void): Promise<LineLog> {
    let whole = 0;
    const file = await open(path, 'a', PRIVATE_FILE).catch((error: unknown) => {
      throw writeFailure(path, error);
    });
    try {
      for await (const { head, end } of readHeads(path)) {
        onLine(head);
        whole = end;
      }
      await file.truncate(whole);
      return new LineLog(path, file, whole);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Rejects if the write fails; nothing of the line remains then. */
  add(text: string): Promise<void> {
    const bytes = Buffer.from(`${text}\n`);
    const write = this.#written.then(async () => {
      try {
        await writeAll(this.#file, bytes);
        this.#sizeBytes += bytes.length;
      } catch (error) {
        await this.#file.truncate(this.#sizeBytes);
        throw writeFailure(this.#path, error);
      }
    });
    this.#written = write.catch(() => undefined);
    return write;
  }

  /** Once it resolves, a power cut loses no line. */
  async close(): Promise<void> {
    await this.#written;
    try {
      await this.#file.sync();
    } finally {
      await this.#file.close();
    }
  }
}

async function* readHeads(path: string): AsyncGenerator<{ head: string; end: number }, void, void> {
  let head = Buffer.alloc(0);
  let end = 0;
  const add = (piece: Buffer): void => {
    if (head.length < HEAD_BYTES) head = Buffer.concat([head, piece.subarray(0, HEAD_BYTES - head.length)]);
  };
  let at = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let stop = chunk.indexOf(BREAK); stop >= 0; stop = chunk.indexOf(BREAK, from)) {
      add(chunk.subarray(from, stop));
      from = stop + 1;
      end = at + from;
      yield { head: head.toString('utf8'), end };
      head = Buffer.alloc(0);
    }
    add(chunk.subarray(from));
    at += chunk.length;
  }
}
