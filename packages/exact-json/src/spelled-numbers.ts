/**
 * Numbers with their spelling. A JavaScript number loses the difference between 1 and 1.0 and the last digits of a
 * long integer, but a model reads and writes text. Values stay plain; the spellings of numbers that JavaScript would
 * write differently are recorded per object or list.
 */

/** A number with its spelling, for code that walks and writes values itself. */
export class SpelledNumber {
  readonly spelling: string;

  constructor(spelling: string) {
    this.spelling = spelling;
  }

  get isInteger(): boolean {
    return /^-?\d+$/.test(this.spelling);
  }

  /** Makes comparisons use the value. */
  toJSON(): number {
    return Number(this.spelling);
  }
}

type Container = Readonly<Record<string, unknown>> | readonly unknown[];

const notes = new WeakMap<object, Map<string, string>>();

/**
 * Records the spelling of one member. A usual spelling removes the record, because the member may replace another of
 * the same name.
 */
export function noteSpelling(container: object, key: string | number, spelling: string): void {
  const known = notes.get(container);
  if (isUsual(spelling)) {
    known?.delete(String(key));
    return;
  }
  if (known === undefined) notes.set(container, new Map([[String(key), spelling]]));
  else known.set(String(key), spelling);
}

/** Copies the recorded spellings of an object to a copy of it. */
export function keepSpellings<Copy extends object>(copy: Copy, original: object): Copy {
  const known = notes.get(original);
  if (known !== undefined) notes.set(copy, new Map(known));
  return copy;
}

/** A copy without spellings, for output that must be equal for texts of equal value. */
export function withoutSpellings<Value>(value: Value): Value {
  return structuredClone(value);
}

/** Whether JavaScript and Python both write the number in this spelling. */
export function isUsual(spelling: string): boolean {
  const value = Number(spelling);
  if (String(value) !== spelling) return false;
  if (Number.isInteger(value)) return Number.isSafeInteger(value);
  const size = Math.abs(value);
  return size >= 1e-4 && size < 1e15;
}

/** One member; a SpelledNumber if its spelling is recorded. */
export function spelledMember(container: object, key: string | number): unknown {
  const member: unknown = Reflect.get(container, key);
  const spelling = typeof member === 'number' ? notes.get(container)?.get(String(key)) : undefined;
  return spelling === undefined ? spelled(member) : new SpelledNumber(spelling);
}

/** The value with a SpelledNumber for each recorded spelling; parts without records stay the same objects. */
export function spelled(value: unknown): unknown {
  if (!isContainer(value)) return value;
  const known = notes.get(value);
  const member = (item: unknown, key: string | number): unknown => {
    const spelling = typeof item === 'number' ? known?.get(String(key)) : undefined;
    return spelling === undefined ? spelled(item) : new SpelledNumber(spelling);
  };
  if (Array.isArray(value)) {
    const items = value.map(member);
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  const entries = Object.entries(value);
  const members = entries.map(([key, item]) => [key, member(item, key)] as const);
  return members.some(([, item], at) => item !== entries[at]?.[1]) ? Object.fromEntries(members) : value;
}

/** Like JSON.stringify, with each number in its own spelling. */
export function writeJson(value: unknown, indent = ''): string {
  const whole = spelled(value);
  return holdsSpelling(whole) ? written(whole, indent, '\n') : JSON.stringify(whole, null, indent);
}

export function writeScalar(value: unknown): string {
  return value instanceof SpelledNumber ? value.spelling : JSON.stringify(value);
}

function holdsSpelling(value: unknown): boolean {
  if (value instanceof SpelledNumber) return true;
  if (!isContainer(value)) return false;
  return (Array.isArray(value) ? value : Object.values(value)).some(holdsSpelling);
}

function written(value: unknown, indent: string, line: string): string {
  if (!isContainer(value)) return writeScalar(value) ?? 'null';
  const inner = line + indent;
  const enclosed = (open: string, items: readonly string[], close: string): string => {
    if (items.length === 0 || indent === '') return `${open}${items.join(',')}${close}`;
    return `${open}${inner}${items.join(`,${inner}`)}${line}${close}`;
  };
  if (Array.isArray(value)) {
    const items = value.map((item) => written(item, indent, inner));
    return enclosed('[', items, ']');
  }
  const colon = indent === '' ? ':' : ': ';
  const members = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .map(([key, item]) => `${JSON.stringify(key)}${colon}${written(item, indent, inner)}`);
  return enclosed('{', members, '}');
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null && !(value instanceof SpelledNumber);
}
