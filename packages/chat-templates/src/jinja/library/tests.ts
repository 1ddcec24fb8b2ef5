import type { Budget } from '../values/budget.ts';
import { compare, contains, equal } from '../values/comparing.ts';
import {
  Callable,
  Dict,
  Float,
  isText,
  toNumber,
  Sequence,
  refusal,
  typeName,
  Undefined,
  type Value,
} from '../values/values.ts';
import type { Parameters } from './parameters.ts';

type Test = (value: Value, args: Parameters, budget: Budget) => boolean;

const isEqual: Test = (value, args, budget) => equal(value, args.required('other'), budget);
const ordered =
  (holds: (order: number) => boolean): Test =>
  (value, args, budget) =>
    holds(compare(value, args.required('other'), budget));

export const TESTS: ReadonlyMap<string, Test> = new Map<string, Test>([
  ['defined', (value) => !(value instanceof Undefined)],
  ['undefined', (value) => value instanceof Undefined],
  ['none', (value) => value === null],
  ['string', isText],
  ['mapping', (value) => value instanceof Dict],
  [
    'sequence',
    (value) =>
      isText(value) || value instanceof Sequence || value instanceof Dict || value instanceof Undefined,
  ],
  [
    'iterable',
    (value) =>
      isText(value) || value instanceof Sequence || value instanceof Dict || value instanceof Undefined,
  ],
  ['number', (value) => toNumber(value) !== undefined],
  ['integer', (value) => typeof value === 'number' || typeof value === 'bigint'],
  ['float', (value) => value instanceof Float],
  ['boolean', (value) => typeof value === 'boolean'],
  ['true', (value) => value === true],
  ['false', (value) => value === false],
  ['callable', (value) => value instanceof Callable],
  ['sameas', (value, args) => value === args.required('other')],
  ['escaped', () => false],
  ['lower', (value, _, budget) => isCased(value, budget, (string) => string.toLowerCase())],
  ['upper', (value, _, budget) => isCased(value, budget, (string) => string.toUpperCase())],
  ['odd', (value) => remainder(value, 2) === 1],
  ['even', (value) => remainder(value, 2) === 0],
  ['divisibleby', (value, args) => remainder(value, args.integer('num')) === 0],
  ['in', (value, args, budget) => contains(args.required('seq'), value, budget)],
  ...(['eq', 'equalto', '=='] as const).map((name) => [name, isEqual] as const),
  ...(['ne', '!='] as const).map((name) => [name, (...args: Asked) => !isEqual(...args)] as const),
  ...(['lt', 'lessthan', '<'] as const).map((name) => [name, ordered((order) => order < 0)] as const),
  ...(['le', '<='] as const).map((name) => [name, ordered((order) => order <= 0)] as const),
  ...(['gt', 'greaterthan', '>'] as const).map((name) => [name, ordered((order) => order > 0)] as const),
  ...(['ge', '>='] as const).map((name) => [name, ordered((order) => order >= 0)] as const),
]);

function isCased(value: Value, budget: Budget, cased: (string: string) => string): boolean {
  if (!isText(value)) return false;
  budget.read(value.string.length);
  return value.string === cased(value.string) && /\p{L}/u.test(value.string);
}

type Asked = [Value, Parameters, Budget];

function remainder(value: Value, by: number): number {
  const number = toNumber(value);
  if (number === undefined) throw refusal(`a ${typeName(value)} has no remainder`);
  if (by === 0) throw refusal('integer division or modulo by zero');
  return ((number % by) + by) % by;
}
