/** Converts plain data to template values, and back for functions of this program. */
import { SpelledNumber } from '../../../../exact-json/src/spelled-numbers.ts';
import { Text } from './text.ts';
import { Callable, Dict, Float, toInteger, isText, toNumber, Sequence, type Value } from './values.ts';

/** Text of this program inside a client's data. */
export class OwnWords {
  readonly string: string;

  constructor(string: string) {
    this.string = string;
  }
}

/** Every other text in the data counts as the client's. Functions accept and return texts. */
export function toValue(data: unknown): Value {
  if (data === null || data === undefined) return null;
  if (typeof data === 'boolean') return data;
  if (typeof data === 'number') return Number.isInteger(data) ? data : new Float(data);
  if (typeof data === 'string') return Text.client(data);
  if (data instanceof OwnWords) return Text.own(data.string);
  if (data instanceof SpelledNumber) return numberValue(data);
  if (data instanceof Text) return data;
  if (Array.isArray(data)) return new Sequence(data.map(toValue));
  if (typeof data === 'function') return calledWithText(data as (text: string) => unknown);
  return new Dict(Object.entries(data).map(([key, item]) => [keyText(key), toValue(item)] as const));
}

/** Python parses no longer integer. */
const MOST_DIGITS = 4300;

function numberValue(data: SpelledNumber): Value {
  const { spelling } = data;
  if (data.isInteger && spelling.length <= MOST_DIGITS) return toInteger(BigInt(spelling));
  return new Float(Number(spelling), spelling);
}

/** Keys of messages and tools are looked up and rarely written; when written, they may be a client's. */
function keyText(key: string): Text {
  return Text.client(key);
}

function calledWithText(work: (text: string) => unknown): Callable {
  return new Callable(work.name, ({ positional: [argument] }) => {
    const result = work(isText(argument) ? argument.string : String(toNumber(argument ?? null) ?? ''));
    return typeof result === 'string' ? Text.own(result) : null;
  });
}
