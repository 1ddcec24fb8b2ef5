/** Writes a large answer as JSON and lets the event loop turn meanwhile: a million numbers take a fifth of a second. */
import { ownTurn } from '../../lib/json/own-turn.ts';
import { writeJson } from '../../lib/json/spelled-numbers.ts';

/** Characters that are written before others have their turn. */
const SLICE_CHARS = 128 * 1024;
/** Size of a piece: values, and sixteens of characters. */
const PART = 4_096;
/** An answer of less is no work that needs turns. */
const LEAST = 64 * 1024;

/** True if an answer is so large that it should be written in turns; looks no further than needed. */
export function isLarge(answer: unknown): answer is object {
  return typeof answer === 'object' && answer !== null && isPlain(answer) && !isWithin(answer, LEAST);
}

/** The bytes of JSON.stringify, for plain data. */
export async function writeJsonInTurns(value: object): Promise<Buffer> {
  const slices: Buffer[] = [];
  let text = '';
  for (const part of writeValue(value)) {
    text += part;
    if (text.length < SLICE_CHARS) continue;
    slices.push(Buffer.from(text));
    text = '';
    await ownTurn();
  }
  slices.push(Buffer.from(text));
  return Buffer.concat(slices);
}

function* writeValue(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null || !isPlain(value) || isWithin(value, PART))
    yield writeJson(value) ?? 'null';
  else if (Array.isArray(value)) yield* writeItems(value);
  else yield* writeMembers(value);
}

function* writeItems(items: readonly unknown[]): Generator<string> {
  let before = '[';
  for (const item of items) {
    yield before;
    yield* writeValue(item);
    before = ',';
  }
  yield ']';
}

function* writeMembers(object: object): Generator<string> {
  let before = '{';
  for (const [name, member] of Object.entries(object)) {
    if (member === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* writeValue(member);
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

/** Others, such as a date, write themselves. */
function isPlain(value: object): boolean {
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
}

/** Looks no further than the limit. */
function isWithin(value: unknown, most: number): boolean {
  const todo: unknown[] = [value];
  let size = 0;
  while (todo.length > 0 && size <= most) {
    const next = todo.pop();
    size += 1;
    if (typeof next === 'string') size += next.length / 16;
    if (typeof next !== 'object' || next === null) continue;
    const members = Array.isArray(next) ? next : Object.values(next);
    if (members.length > most) return false;
    for (const member of members) todo.push(member);
  }
  return size <= most;
}
