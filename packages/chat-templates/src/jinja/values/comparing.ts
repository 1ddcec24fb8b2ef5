import type { Budget } from './budget.ts';
import { firstPlace } from './searching.ts';
import { Text } from './text.ts';
import { Dict, isText, toNumber, Sequence, refusal, typeName, Undefined, type Value } from './values.ts';

export function equal(a: Value, b: Value, budget: Budget): boolean {
  budget.spend(1);
  if (isText(a) && isText(b)) return equalTexts(a.string, b.string, budget);
  const [left, right] = [toExact(a), toExact(b)];
  if (left !== undefined && right !== undefined) return left === right || order(left, right) === 0;
  if (a instanceof Undefined) return b instanceof Undefined;
  if (a instanceof Sequence && b instanceof Sequence) return equalSequences(a, b, budget);
  if (a instanceof Dict && b instanceof Dict) return equalDicts(a, b, budget);
  return a === b;
}

function equalTexts(a: string, b: string, budget: Budget): boolean {
  if (a.length !== b.length) return false;
  budget.read(a.length);
  return a === b;
}

function equalSequences(a: Sequence, b: Sequence, budget: Budget): boolean {
  if (a.kind !== b.kind || a.items.length !== b.items.length) return false;
  return a.items.every((item, i) => equal(item, b.items[i] ?? null, budget));
}

function equalDicts(a: Dict, b: Dict, budget: Budget): boolean {
  if (a.size !== b.size) return false;
  return a.entries().every(([key, value]) => {
    const other = b.get(key);
    return other !== undefined && equal(value, other, budget);
  });
}

/** Below 0 if `a` comes first. Throws for values without an order. */
export function compare(a: Value, b: Value, budget: Budget, operator = '<'): number {
  budget.spend(1);
  if (isText(a) && isText(b)) {
    budget.read(Math.min(a.string.length, b.string.length));
    return compareTexts(a.string, b.string);
  }
  const [left, right] = [toExact(a), toExact(b)];
  if (left !== undefined && right !== undefined) return order(left, right);
  for (const value of [a, b]) if (value instanceof Undefined) throw refusal(value.reason);
  if (a instanceof Sequence && b instanceof Sequence && a.kind === b.kind) {
    for (const [i, item] of a.items.entries()) {
      const other = b.items[i];
      if (other === undefined) return 1;
      if (!equal(item, other, budget)) return compare(item, other, budget, operator);
    }
    return a.items.length - b.items.length;
  }
  throw refusal(`'${operator}' not supported between instances of '${typeName(a)}' and '${typeName(b)}'`);
}

function toExact(value: Value): number | bigint | undefined {
  return typeof value === 'bigint' ? value : toNumber(value);
}

function order(a: number | bigint, b: number | bigint): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (a < b) return -1;
  return Number(a > b);
}

/** Python compares code points, JavaScript UTF-16 units. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  const left = a[Symbol.iterator]();
  for (const other of b) {
    const { done, value } = left.next();
    if (done === true) return -1;
    if (value !== other) return (value.codePointAt(0) ?? 0) - (other.codePointAt(0) ?? 0);
  }
  return 1;
}

export function contains(container: Value, item: Value, budget: Budget): boolean {
  if (isText(container)) {
    if (item instanceof Undefined) throw refusal(item.reason);
    if (!isText(item)) throw refusal(`'in <string>' requires string as left operand, not ${typeName(item)}`);
    return firstPlace(container.string, item.string, budget) >= 0;
  }
  if (container instanceof Dict) return container.has(item);
  return listItems(container, budget).some((other) => equal(other, item, budget));
}

export function listItems(value: Value, budget: Budget): readonly Value[] {
  const items = itemsOrNull(value);
  if (items === null) throw refusal(`'${typeName(value)}' object is not iterable`);
  budget.list(items.length);
  return items;
}

function itemsOrNull(value: Value): readonly Value[] | null {
  if (value instanceof Undefined) return [];
  if (value instanceof Sequence) return value.items;
  if (value instanceof Dict) return value.keys();
  return value instanceof Text ? value.characters() : null;
}

export function valueLength(value: Value, budget: Budget): number {
  if (value instanceof Undefined) return 0;
  if (value instanceof Sequence) return value.items.length;
  if (value instanceof Dict) return value.size;
  if (isText(value)) {
    budget.read(value.string.length);
    return value.length;
  }
  throw refusal(`object of type '${typeName(value)}' has no len()`);
}
