/**
 * worker/media owns the images and the audio of prompts: how they are parsed, cut, encoded and cached, and their rows in
 * a prompt. It knows nothing of sequences, steps or the native library.
 *
 * A prompt is one list of numbers, in which each row of an image is a number beyond every vocabulary. So code that
 * counts, compares, cuts or caches tokens needs no knowledge of images. The bits of a row:
 *   bit 31      it is a row of an image, and not a token
 *   bit 30      it is the first row of its run
 *   bit 29      the next position is one further (all rows; with M-RoPE a run takes fewer positions than rows)
 *   bits 0-28   a piece of the digest of the run's content
 * The digest covers the projector, the settings of its preprocessing and the pixels. State is found by comparing the
 * numbers: a prompt with the same image finds it in a sequence, in memory and on the disk, also after a restart, and a
 * prompt with another image does not. State may be cut only before or after a run: an image may be attended to as a
 * whole, and its positions need not follow each other.
 */
import { createHash } from 'node:crypto';

const ROW = 2 ** 31;
const FIRST = 2 ** 30;
const ADVANCES = 2 ** 29;

export interface RowRun {
  readonly digest: string;
  readonly rows: number;
  /** Positions that it takes, `rows` at most. */
  readonly positions: number;
}

export const isRow = (token: number): boolean => token >= ROW;

export function rowTokens({ digest, rows, positions }: RowRun): Uint32Array {
  const tokens = new Uint32Array(rows);
  let bytes = Buffer.alloc(0);
  for (let row = 0; row < rows; row += 1) {
    const at = (row % 8) * 4;
    if (at === 0) bytes = createHash('sha256').update(`${digest} ${rows} ${positions} ${row}`).digest();
    tokens[row] =
      ROW + (row === 0 ? FIRST : 0) + (row < positions ? ADVANCES : 0) + (bytes.readUInt32LE(at) % ADVANCES);
  }
  return tokens;
}

const isFirst = (token: number): boolean => token % ROW >= FIRST;

function isBorder(tokens: ArrayLike<number>, at: number): boolean {
  const next = tokens[at];
  return next === undefined || !isRow(next) || isFirst(next);
}

export function borderUpTo(tokens: ArrayLike<number>, at: number): number {
  let border = at;
  while (border > 0 && !isBorder(tokens, border)) border -= 1;
  return border;
}

export function runStarts(tokens: ArrayLike<number>): number[] {
  const starts: number[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] ?? 0;
    if (isRow(token) && isFirst(token)) starts.push(at);
  }
  return starts;
}

export function positionsIn(tokens: ArrayLike<number>, end: number): number {
  let positions = 0;
  for (let at = 0; at < end; at += 1) {
    const token = tokens[at] ?? 0;
    if (!isRow(token) || token % FIRST >= ADVANCES) positions += 1;
  }
  return positions;
}

export const withoutRows = (tokens: Iterable<number>): number[] =>
  [...tokens].filter((token) => !isRow(token));
