import { RANGE_DEFECT, rangeLength, TEMPLATE_LIMITS } from '../../form/limits.ts';
import { listItems } from '../values/comparing.ts';
import type { Budget } from '../values/budget.ts';
import { Text } from '../values/text.ts';
import {
  type Arguments,
  Callable,
  Dict,
  isText,
  Namespace,
  Sequence,
  refusal,
  type Value,
} from '../values/values.ts';
import { toText } from '../values/writing.ts';
import { Parameters } from './parameters.ts';

export function functions(budget: Budget): [string, Value][] {
  const all: Record<string, (args: Arguments) => Value> = {
    range: (args) => range(new Parameters(args), budget),
    namespace: (args) => new Namespace('Namespace', members(args, budget)),
    dict: (args) => new Dict(members(args, budget).map(([name, value]) => [Text.own(name), value] as const)),
    raise_exception: ({ positional: [message] }) => {
      throw refusal(toText(message ?? null, budget).string);
    },
    cycler: ({ positional }) => cycler(positional),
    joiner: ({ positional: [separator] }) => {
      let isFirst = true;
      return new Callable('joiner', () => {
        const text = isFirst ? Text.own('') : (separator ?? Text.own(', '));
        isFirst = false;
        return text;
      });
    },
  };
  return Object.entries(all).map(([name, call]) => [name, new Callable(name, call)]);
}

function range(args: Parameters, budget: Budget): Sequence {
  const first = args.integer('start');
  const { positional } = args.rest();
  const second = positional.length > 0 ? args.integer('stop') : undefined;
  const step = args.integer('step', 1);
  const length = rangeLength(first, second, step);
  if (!(length <= TEMPLATE_LIMITS.range)) throw refusal(`the chat template ${RANGE_DEFECT}`);
  budget.list(length);
  const from = second === undefined ? 0 : first;
  return new Sequence(Array.from({ length }, (_, i) => from + i * step));
}

function members({ positional, named }: Arguments, budget: Budget): [string, Value][] {
  const given = positional.flatMap((source): [string, Value][] => {
    const pairs =
      source instanceof Dict
        ? source.entries()
        : listItems(source, budget).map((pair) => listItems(pair, budget));
    return pairs.map(([key, value]) => {
      if (key === undefined || !isText(key) || value === undefined) throw refusal('members have names');
      return [key.string, value];
    });
  });
  return [...given, ...named];
}

function cycler(items: readonly Value[]): Value {
  let at = 0;
  const next = new Callable('next', () => {
    const item = items[at % items.length] ?? null;
    at += 1;
    return item;
  });
  return new Namespace('cycler', [['next', next]]);
}
