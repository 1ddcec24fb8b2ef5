/** Writes a large answer as JSON over several turns of the event loop: a million numbers take 0.2 s. */
import { ownTurn } from '../../../lib/json/own-turn.ts';
import { writeJson } from '../../../lib/json/spelled-numbers.ts';

const SLICE_CHARS = 128 * 1024;
/** Size limit of a piece: each value counts 1, plus 1 per 16 characters of text. */
const PART = 4_096;
const LEAST = 64 * 1024;

export function isLarge(answer: unknown): answer is object {
  return typeof answer === 'object' && answer !== null && isPlain(answer) && !isWithin(answer, LEAST);
}

/** Equals JSON.stringify for plain data. */
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

function isPlain(value: object): boolean {
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
}

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
