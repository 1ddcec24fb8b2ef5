/** JSON.parse that also records the spelling of numbers. */
import { noteSpelling } from './spelled-numbers.ts';

/** Every unusual spelling matches this; a text without a match needs no second pass. */
const MAY_BE_UNUSUAL = /\d[.eE]|\d{16}|-0/;
const TOKEN = /[[\]{}:,"]|[^[\]{}:,"\s]+/g;
const STARTS_NUMBER = /^[-\d]/;

/** Throws like JSON.parse. */
export function parseSpelled(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (MAY_BE_UNUSUAL.test(text)) noteNumbers(text, value);
  return value;
}

/** An open object or list; null if a later member of the same name replaced it. */
interface Place {
  readonly container: object | null;
  readonly isList: boolean;
  key: string | number;
}

function noteNumbers(text: string, root: unknown): void {
  const open: Place[] = [];
  let expectsKey = false;
  TOKEN.lastIndex = 0;
  for (let token = TOKEN.exec(text); token !== null; token = TOKEN.exec(text)) {
    const [mark] = token;
    const place = open.at(-1);
    if (mark === '{' || mark === '[') {
      open.push({ container: nestedValue(place, root), isList: mark === '[', key: 0 });
      expectsKey = mark === '{';
    } else if (mark === '}' || mark === ']') {
      open.pop();
      expectsKey = false;
    } else if (mark === ':') {
      expectsKey = false;
    } else if (mark === ',') {
      if (place?.isList === true) (place.key as number) += 1;
      else expectsKey = true;
    } else if (mark === '"') {
      const end = endOfString(text, token.index);
      if (expectsKey && place !== undefined) place.key = JSON.parse(text.slice(token.index, end)) as string;
      TOKEN.lastIndex = end;
    } else if (STARTS_NUMBER.test(mark) && place?.container) {
      noteSpelling(place.container, place.key, mark);
    }
  }
}

function nestedValue(place: Place | undefined, root: unknown): object | null {
  const member: unknown =
    place === undefined ? root : place.container && Reflect.get(place.container, place.key);
  return typeof member === 'object' ? member : null;
}

function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); ; at = text.indexOf('"', at + 1)) {
    let first = at;
    while (text.charAt(first - 1) === '\\') first -= 1;
    if ((at - first) % 2 === 0) return at + 1;
  }
}
