import type { Budget } from '../values/budget.ts';
import { equal, listItems } from '../values/comparing.ts';
import { Dict, orElse, Sequence, refusal, type Value } from '../values/values.ts';
import type { Parameters } from './parameters.ts';

type Method<Receiver> = (receiver: Receiver, args: Parameters, budget: Budget) => Value;

export const DICT_METHODS: Readonly<Record<string, Method<Dict>>> = {
  get: (dict, args) => orElse(dict.get(args.required('key')), () => args.next('default')),
  keys: (dict, _, budget) => listed(dict.keys(), budget),
  values: (dict, _, budget) => listed(dict.values(), budget),
  items: (dict, _, budget) => pairs(dict, budget),
  copy: (dict, _, budget) => {
    budget.list(dict.size);
    return new Dict(dict.entries());
  },
  pop: (dict, args) => {
    const key = args.required('key');
    const fallback = args.optional('default');
    const value = orElse(dict.get(key), () => {
      if (fallback === undefined) throw refusal('the key to remove is not there');
      return fallback;
    });
    dict.delete(key);
    return value;
  },
  update: (dict, args, budget) => {
    const { positional, named } = args.rest();
    for (const source of positional) {
      if (!(source instanceof Dict)) throw refusal('update() takes a dictionary');
      budget.list(source.size);
      for (const [key, value] of source.entries()) dict.set(key, value);
    }
    if (named.size > 0) throw refusal('update() takes a dictionary');
    return null;
  },
  setdefault: (dict, args) => {
    const key = args.required('key');
    const known = dict.get(key);
    if (known !== undefined) return known;
    const value = args.next('default');
    dict.set(key, value);
    return value;
  },
};

export const LIST_METHODS: Readonly<Record<string, Method<Sequence>>> = {
  append: (list, args, budget) => {
    budget.list(1);
    growable(list, budget, 1).push(args.required('object'));
    return null;
  },
  extend: (list, args, budget) => {
    const more = [...listItems(args.required('iterable'), budget)];
    growable(list, budget, more.length).push(...more);
    return null;
  },
  insert: (list, args, budget) => {
    const at = args.integer('index');
    growable(list, budget, 1).splice(at, 0, args.required('object'));
    return null;
  },
  pop: (list, args) => {
    const [taken] = list.items.splice(args.integer('index', -1), 1);
    if (taken === undefined) throw refusal('pop from empty list');
    return taken;
  },
  index: (list, args, budget) => {
    const wanted = args.required('value');
    const at = listItems(list, budget).findIndex((item) => equal(item, wanted, budget));
    if (at < 0) throw refusal('the value is not in the list');
    return at;
  },
  count: (list, args, budget) => {
    const wanted = args.required('value');
    return listItems(list, budget).filter((item) => equal(item, wanted, budget)).length;
  },
  copy: (list, _, budget) => listed([...list.items], budget),
  reverse: (list, _, budget) => {
    budget.list(list.items.length);
    list.items.reverse();
    return null;
  },
};

export function pairs(dict: Dict, budget: Budget): Sequence {
  return listed(
    dict.entries().map((entry) => new Sequence(entry, 'tuple')),
    budget,
  );
}

function listed(items: Value[], budget: Budget): Sequence {
  budget.list(items.length);
  return new Sequence(items);
}

function growable(list: Sequence, budget: Budget, more: number): Value[] {
  if (list.kind === 'tuple') throw refusal('a tuple cannot be changed');
  budget.holds(list.items.length + more);
  return list.items;
}
