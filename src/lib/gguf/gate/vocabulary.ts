/**
 * The token list, read once and boiled down to what the checks ask about it. Two equal
 * tokens make llama.cpp abort, so every token is compared; none of them is kept.
 */
import type { HeaderCursor, Refuse } from '../format/cursor.ts';
import { LIMITS } from '../format/limits.ts';
import { LAST_COMPARED } from './draft-vocabulary.ts';

export interface Vocabulary {
  readonly size: number;
  /** Spellings of the line feed that occur: "Ċ" (byte-level), "<0x0A>" (byte token), "\n". */
  readonly newlines: ReadonlySet<string>;
  /** The first tokens as they stand in the file, as many as are compared with those of another model. */
  readonly first: readonly string[];
  /** Upper bound of the rows in the suffix table that the PLaMo-2 tokenizer builds. */
  readonly suffixRows: number;
}

const NEWLINE_SPELLINGS = new Set(['\u010a', '<0x0A>', '\n', '\\n']);

export function emptyVocabulary(): Vocabulary {
  return { size: 0, newlines: new Set(), first: [], suffixRows: 0 };
}

export async function readTokens(cursor: HeaderCursor, count: number, refuse: Refuse): Promise<Vocabulary> {
  if (count > LIMITS.vocabulary)
    refuse(`its vocabulary has ${count} tokens; at most ${LIMITS.vocabulary} are accepted`);
  const seen = new Set<string>();
  const newlines = new Set<string>();
  const first: string[] = [];
  let suffixRows = 0;
  for (let index = 0; index < count; index += 1) {
    const bytes = await readToken(cursor, refuse);
    suffixRows += (bytes.length * (bytes.length + 1)) / 2;
    seen.add(asLlamaSeesIt(bytes, index));
    const start = bytes.toString('utf8', 0, 40);
    if (index < LAST_COMPARED) first.push(start);
    if (bytes.length <= 6 && NEWLINE_SPELLINGS.has(start)) newlines.add(start);
    if (seen.size !== index + 1) refuse(`its vocabulary holds the token ${JSON.stringify(start)} twice`);
  }
  return { size: count, newlines, first, suffixRows };
}

async function readToken(cursor: HeaderCursor, refuse: Refuse): Promise<Buffer> {
  const length = await cursor.length('a token');
  if (length > LIMITS.tokenBytes)
    refuse(`a token is ${length} bytes long; the limit is ${LIMITS.tokenBytes}`);
  if (!cursor.holds(length)) await cursor.need(length, 'a token');
  return cursor.take(length);
}

/** llama.cpp reads a token up to its first NUL, and names an empty one after its index. */
function asLlamaSeesIt(bytes: Buffer, index: number): string {
  const end = bytes.indexOf(0);
  return bytes.toString('latin1', 0, end < 0 ? bytes.length : end) || `[EMPTY_${index}]`;
}
