import type { Budget } from '../values/budget.ts';
import { type Arguments, isText, toNumber, refusal, typeName, type Value } from '../values/values.ts';
import type { Parameters } from './parameters.ts';

export interface Engine {
  readonly budget: Budget;
  member(object: Value, name: string): Value;
  attribute(object: Value, name: string): Value;
  add(left: Value, right: Value): Value;
  call(callable: Value, args: Arguments): Value;
  filter(name: string, args: Arguments): Value;
  test(name: string, args: Arguments): boolean;
}

export type Filter = (value: Value, args: Parameters, engine: Engine) => Value;

export function attributeName(value: Value): string {
  if (isText(value)) return value.string;
  const number = toNumber(value);
  if (number === undefined) throw refusal(`an attribute is named by text, not ${typeName(value)}`);
  return String(number);
}
