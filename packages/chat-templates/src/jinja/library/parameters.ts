import { Text } from '../values/text.ts';
import {
  type Arguments,
  isText,
  isTrue,
  toNumber,
  refusal,
  typeName,
  Undefined,
  type Value,
} from '../values/values.ts';

export class Parameters {
  readonly #args: Arguments;
  #taken = 0;

  constructor(args: Arguments) {
    this.#args = args;
  }

  optional(name: string): Value | undefined {
    const { positional, named } = this.#args;
    const place = this.#taken;
    this.#taken += 1;
    return place < positional.length ? positional[place] : named.get(name);
  }

  next(name: string): Value {
    return this.optional(name) ?? null;
  }

  required(name: string): Value {
    const value = this.optional(name);
    if (value === undefined) throw refusal(`missing a required argument: '${name}'`);
    return value;
  }

  text(name: string, otherwise?: string): Text {
    const value = this.optional(name);
    if (value === undefined && otherwise !== undefined) return Text.own(otherwise);
    if (value instanceof Undefined) throw refusal(value.reason);
    if (value === undefined || !isText(value))
      throw refusal(`argument '${name}' must be str, not ${typeName(value ?? null)}`);
    return value;
  }

  integer(name: string, otherwise?: number): number {
    const value = this.optional(name);
    if (value === undefined && otherwise !== undefined) return otherwise;
    const number = toNumber(value ?? null);
    if (number === undefined || !Number.isInteger(number))
      throw refusal(`argument '${name}' must be int, not ${typeName(value ?? null)}`);
    return number;
  }

  flag(name: string, otherwise: boolean): boolean {
    const value = this.optional(name);
    return value === undefined ? otherwise : isTrue(value);
  }

  rest(): Arguments {
    return { positional: this.#args.positional.slice(this.#taken), named: this.#args.named };
  }
}
