import { DICT_METHODS, LIST_METHODS } from './library/containers.ts';
import { Parameters } from './library/parameters.ts';
import { TEXT_METHODS } from './library/text-methods.ts';
import type { Budget } from './values/budget.ts';
import { Text } from './values/text.ts';
import {
  Callable,
  Dict,
  Group,
  isText,
  Namespace,
  toNumber,
  orElse,
  Sequence,
  refusal,
  typeName,
  Undefined,
  type Value,
} from './values/values.ts';

/** `object.name`: methods take precedence over dictionary entries. */
export function getMember(object: Value, name: string, budget: Budget): Value {
  refuseUndefined(object);
  return orElse(findMethod(object, name, budget), () =>
    orElse(namedItem(object, name), () => missing(object, name)),
  );
}

export function getAttribute(object: Value, name: string, budget: Budget): Value {
  refuseUndefined(object);
  const entry = object instanceof Dict ? undefined : namedItem(object, name);
  return orElse(findMethod(object, name, budget), () => orElse(entry, () => missing(object, name)));
}

/** `object[key]`: entries take precedence over methods. */
export function getItem(object: Value, key: Value, budget: Budget): Value {
  refuseUndefined(object);
  if (object instanceof Dict) {
    const found = object.find(key);
    if (found !== undefined) return found;
  }
  if (isText(key)) {
    const { string: name } = key;
    return orElse(namedItem(object, name), () =>
      orElse(findMethod(object, name, budget), () => missing(object, name)),
    );
  }
  const index = toNumber(key);
  if (index === undefined) return new Undefined(`'${typeName(object)}' has no such element`);
  return orElse(
    elementAt(object, index, budget),
    () => new Undefined(`${typeName(object)} object has no element ${index}`),
  );
}

interface SliceBounds {
  readonly start: Value;
  readonly stop: Value;
  readonly step: Value;
}

export function getSlice(object: Value, { start, stop, step }: SliceBounds, budget: Budget): Value {
  refuseUndefined(object);
  const isOfText = isText(object);
  if (!isOfText && !(object instanceof Sequence)) return new Undefined(`'${typeName(object)}' has no slices`);
  const length = isOfText ? object.length : object.items.length;
  if (isOfText) budget.text(length);
  else budget.list(length);
  const by = integer(step, 1);
  if (by === 0) throw refusal('slice step cannot be zero');
  if (isOfText && by === 1) {
    const [from, to] = [clamp(integer(start, 0), length), clamp(integer(stop, length), length)];
    return object.sliceCharacters(from, Math.max(from, to));
  }
  const all: readonly Value[] = isOfText ? object.characters() : object.items;
  const items = picked(all, { start, stop, by });
  return isOfText ? Text.concat(items.filter(isText)) : new Sequence(items, object.kind);
}

function picked(
  all: readonly Value[],
  { start, stop, by }: { start: Value; stop: Value; by: number },
): Value[] {
  const { length } = all;
  const items: Value[] = [];
  if (by > 0) {
    const to = clamp(integer(stop, length), length);
    for (let i = clamp(integer(start, 0), length); i < to; i += by) items.push(all[i] ?? null);
    return items;
  }
  const first = start === null ? length - 1 : Math.min(length - 1, relative(integer(start, 0), length));
  const last = stop === null ? -1 : Math.max(-1, relative(integer(stop, 0), length));
  for (let i = first; i > last; i += by) items.push(all[i] ?? null);
  return items;
}

function integer(value: Value, otherwise: number): number {
  if (value === null) return otherwise;
  const number = toNumber(value);
  if (number === undefined || !Number.isInteger(number))
    throw refusal('slice indices must be integers or None');
  return number;
}

function relative(index: number, length: number): number {
  return index < 0 ? index + length : index;
}

function clamp(index: number, length: number): number {
  return Math.min(length, Math.max(0, relative(index, length)));
}

function elementAt(object: Value, index: number, budget: Budget): Value | undefined {
  if (object instanceof Sequence) return object.items[relative(index, object.items.length)];
  if (!isText(object)) return undefined;
  budget.text(object.string.length);
  const at = relative(index, object.length);
  const character = at < 0 ? undefined : object.sliceCharacters(at, at + 1);
  return character?.string === '' ? undefined : character;
}

function namedItem(object: Value, name: string): Value | undefined {
  if (object instanceof Dict || object instanceof Group) return object.named(name);
  return object instanceof Namespace ? object.members.get(name) : undefined;
}

function findMethod(object: Value, name: string, budget: Budget): Value | undefined {
  if (isText(object)) return bound(TEXT_METHODS, object, name, budget);
  if (object instanceof Dict) return bound(DICT_METHODS, object, name, budget);
  return object instanceof Sequence ? bound(LIST_METHODS, object, name, budget) : undefined;
}

type Methods<Receiver> = Readonly<
  Record<string, (receiver: Receiver, args: Parameters, budget: Budget) => Value>
>;

function bound<Receiver extends Value>(
  methods: Methods<Receiver>,
  receiver: Receiver,
  name: string,
  budget: Budget,
): Value | undefined {
  if (!Object.hasOwn(methods, name)) return undefined;
  const method = methods[name];
  if (method === undefined) return undefined;
  return new Callable(name, (args) => {
    if (isText(receiver)) budget.text(receiver.string.length);
    return method(receiver, new Parameters(args), budget);
  });
}

function refuseUndefined(object: Value): void {
  if (object instanceof Undefined) throw refusal(object.reason);
}

function missing(object: Value, name: string): Undefined {
  const what = object instanceof Dict ? 'dict object' : `'${typeName(object)} object'`;
  return new Undefined(`${what} has no attribute '${name}'`);
}
