import { escaped } from './library/filters.ts';
import { formatPercent } from './library/format.ts';
import type { Budget } from './values/budget.ts';
import { compare, contains, equal } from './values/comparing.ts';
import { Text } from './values/text.ts';
import {
  Float,
  toInteger,
  isText,
  toNumber,
  Sequence,
  refusal,
  typeName,
  Undefined,
  type Value,
} from './values/values.ts';
import { toText } from './values/writing.ts';

export function operate(operator: string, left: Value, right: Value, budget: Budget): Value {
  switch (operator) {
    case '==':
      return equal(left, right, budget);
    case '!=':
      return !equal(left, right, budget);
    case '<':
      return compare(left, right, budget, operator) < 0;
    case '<=':
      return compare(left, right, budget, operator) <= 0;
    case '>':
      return compare(left, right, budget, operator) > 0;
    case '>=':
      return compare(left, right, budget, operator) >= 0;
    case 'in':
      return contains(right, left, budget);
    case 'not in':
      return !contains(right, left, budget);
    case '~':
      return joined(toText(left, budget), toText(right, budget), budget);
    default:
      return calculate(operator, defined(left), defined(right), budget);
  }
}

export function negate(value: Value): Value {
  const number = toNumber(defined(value));
  if (number === undefined) throw refusal(`bad operand type for unary -: '${typeName(value)}'`);
  if (typeof value === 'bigint') return toInteger(-value);
  return value instanceof Float ? new Float(-number) : -number;
}

function calculate(operator: string, left: Value, right: Value, budget: Budget): Value {
  if (operator === '+') {
    if (isText(left) && isText(right)) return added(left, right, budget);
    if (left instanceof Sequence && right instanceof Sequence && left.kind === right.kind) {
      budget.list(left.items.length + right.items.length);
      return new Sequence([...left.items, ...right.items], left.kind);
    }
  }
  if (operator === '%' && isText(left)) return formatPercent(left, right, budget);
  if (operator === '*') {
    const repeated = repeat(left, right, budget) ?? repeat(right, left, budget);
    if (repeated !== null) return repeated;
  }
  const [a, b] = [toNumber(left), toNumber(right)];
  if (a === undefined || b === undefined) throw refusal(mismatch(operator, left, right));
  const result = arithmetic(operator, a, b);
  const exact = exactly(operator, result, left, right);
  if (exact !== undefined) return exact;
  const isFloat =
    operator === '/' || left instanceof Float || right instanceof Float || !Number.isInteger(result);
  return isFloat ? new Float(result) : result;
}

/** Python's result for integers beyond exact numbers; undefined: the usual arithmetic suffices. */
function exactly(operator: string, result: number, left: Value, right: Value): Value | undefined {
  if (!Number.isFinite(result) || left instanceof Float || right instanceof Float) return undefined;
  const isLong = [left, right, result].some((each) => typeof each === 'bigint' || !isSafe(each));
  const work = isLong ? LONG_ARITHMETIC[operator] : undefined;
  return work === undefined ? undefined : toInteger(work(BigInt(left as number), BigInt(right as number)));
}

function isSafe(value: Value): boolean {
  return !Number.isInteger(value) || Number.isSafeInteger(value);
}

const floored = (a: bigint, b: bigint): bigint => a / b - (a % b !== 0n && a < 0n !== b < 0n ? 1n : 0n);

const LONG_ARITHMETIC: Readonly<Record<string, (a: bigint, b: bigint) => bigint>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '//': floored,
  '%': (a, b) => a - b * floored(a, b),
};

function defined(value: Value): Value {
  if (value instanceof Undefined) throw refusal(value.reason);
  return value;
}

function added(left: Text, right: Text, budget: Budget): Text {
  if (!left.isMarkup && !right.isMarkup) return joined(left, right, budget);
  const [before, after] = [left, right].map((text) => (text.isMarkup ? text : escaped(text))) as [Text, Text];
  return joined(before, after, budget).asMarkup;
}

function joined(left: Text, right: Text, budget: Budget): Text {
  budget.text(left.string.length + right.string.length);
  return Text.concat([left, right]);
}

function repeat(what: Value, times: Value, budget: Budget): Value | null {
  if (typeof times !== 'number' && typeof times !== 'boolean') return null;
  const count = Math.max(0, Number(times));
  if (isText(what)) {
    budget.text(what.string.length * count);
    budget.spend(count);
    return Text.concat(what.string === '' ? [] : Array.from({ length: count }, () => what));
  }
  if (!(what instanceof Sequence)) return null;
  budget.list(what.items.length * count);
  const items: Value[] = [];
  if (what.items.length > 0) for (let i = 0; i < count; i += 1) items.push(...what.items);
  return new Sequence(items, what.kind);
}

function arithmetic(operator: string, a: number, b: number): number {
  if (['/', '//', '%'].includes(operator) && b === 0) throw refusal('division by zero');
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
    case '//':
      return Math.floor(a / b);
    case '%':
      return ((a % b) + b) % b;
    case '**':
      return a ** b;
    default:
      throw refusal(`there is no operator ${operator}`);
  }
}

function mismatch(operator: string, left: Value, right: Value): string {
  if (operator === '+' && isText(left)) return `can only concatenate str (not "${typeName(right)}") to str`;
  if (operator === '+' && left instanceof Sequence)
    return `can only concatenate ${left.kind} (not "${typeName(right)}") to ${left.kind}`;
  return `unsupported operand type(s) for ${operator}: '${typeName(left)}' and '${typeName(right)}'`;
}
