/**
 * worker/media owns the images and the audio of prompts: what they are cut into, their rows in a prompt, how they are read, encoded and
 * kept. It knows nothing of sequences, steps or the native library.
 *
 * A prompt is one list of numbers, and a run of rows of an image stands in it as numbers that no vocabulary has, one for
 * each row. So everything that counts, compares, cuts or keeps tokens needs to know nothing of images. A row says:
 *   bit 31      it is a row of an image, and not a token
 *   bit 30      it is the first row of its run
 *   bit 29      the position of what follows is one further (all rows; with M-RoPE a run takes fewer positions than rows)
 *   bits 0-28   a piece of the digest of what the run shows
 * The digest covers the projector, the settings of its preprocessing and the pixels. State is found by comparing the
 * numbers, so a prompt with the same image finds it in a sequence, in memory and on the disk, also after a restart, and
 * one with another image cannot. State may be cut before a run or behind it, and nowhere else: an image may be attended to
 * as a whole, and its positions need not follow each other.
 */
import { createHash } from 'node:crypto';

const ROW = 2 ** 31;
const FIRST = 2 ** 30;
const ADVANCES = 2 ** 29;

/** Rows of one image that are evaluated together. */
export interface RowRun {
  /** Of its content, hex. */
  readonly digest: string;
  readonly rows: number;
  /** Positions that it takes, `rows` at most. */
  readonly positions: number;
}

export const isRow = (token: number): boolean => token >= ROW;

/** The numbers that represent a run. */
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

/** Whether state may end before this index. */
function isBorder(tokens: ArrayLike<number>, at: number): boolean {
  const next = tokens[at];
  return next === undefined || !isRow(next) || isFirst(next);
}

/** The last place up to `at` where state may be cut: not inside an image. */
export function borderUpTo(tokens: ArrayLike<number>, at: number): number {
  let border = at;
  while (border > 0 && !isBorder(tokens, border)) border -= 1;
  return border;
}

/** Start of each run, in order. */
export function runStarts(tokens: ArrayLike<number>): number[] {
  const starts: number[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] ?? 0;
    if (isRow(token) && isFirst(token)) starts.push(at);
  }
  return starts;
}

/** Positions of this number of tokens and rows. */
export function positionsIn(tokens: ArrayLike<number>, end: number): number {
  let positions = 0;
  for (let at = 0; at < end; at += 1) {
    const token = tokens[at] ?? 0;
    if (!isRow(token) || token % FIRST >= ADVANCES) positions += 1;
  }
  return positions;
}

/** The tokens among them. */
export const withoutRows = (tokens: Iterable<number>): number[] =>
  [...tokens].filter((token) => !isRow(token));
