import type { Budget } from '../values/budget.ts';
import { compare, equal, listItems } from '../values/comparing.ts';
import { Text } from '../values/text.ts';
import {
  Dict,
  Group,
  isText,
  isTrue,
  orElse,
  Sequence,
  refusal,
  typeName,
  Undefined,
  type Value,
} from '../values/values.ts';
import { toText } from '../values/writing.ts';
import { type Engine, type Filter, attributeName } from './engine.ts';
import type { Parameters } from './parameters.ts';

export const LIST_FILTERS: Readonly<Record<string, Filter>> = {
  list: (value, _, { budget }) => new Sequence([...listItems(value, budget)]),
  first: (value, _, { budget }) =>
    orElse(listItems(value, budget)[0], () => new Undefined('No first item, sequence was empty.')),
  last: (value, _, { budget }) =>
    orElse(listItems(value, budget).at(-1), () => new Undefined('No last item, sequence was empty.')),
  reverse: (value, _, { budget }) => {
    const items = [...listItems(value, budget)].reverse();
    return isText(value) ? Text.concat(items.filter(isText)) : new Sequence(items);
  },
  sort: (value, args, engine) => {
    const reverse = args.flag('reverse', false);
    const exact = args.flag('case_sensitive', false);
    const attribute = args.next('attribute');
    const key = attributeKey(attribute, { exact, engine });
    return new Sequence(sorted(listItems(value, engine.budget), { key, reverse }, engine.budget));
  },
  dictsort: (value, args, engine) => {
    if (!(value instanceof Dict)) throw refusal(`a ${typeName(value)} has no items to sort`);
    const exact = args.flag('case_sensitive', false);
    const by = args.text('by', 'key').string;
    const reverse = args.flag('reverse', false);
    const place = by === 'value' ? 1 : 0;
    const key = (pair: Value): Value => folded((pair as Sequence).items[place] ?? null, exact);
    const pairs = value.entries().map((entry) => new Sequence(entry, 'tuple'));
    return new Sequence(sorted(pairs, { key, reverse }, engine.budget));
  },
  unique: (value, args, engine) => {
    const exact = args.flag('case_sensitive', false);
    const key = attributeKey(args.next('attribute'), { exact, engine });
    const seen = new Dict();
    return new Sequence(
      listItems(value, engine.budget).filter((item) => {
        const known = seen.has(key(item));
        seen.set(key(item), true);
        return !known;
      }),
    );
  },
  min: (value, args, engine) => extreme(value, args, engine, -1),
  max: (value, args, engine) => extreme(value, args, engine, 1),
  sum: (value, args, engine) => {
    const attribute = args.next('attribute');
    const start = orElse(args.optional('start'), () => 0);
    return listItems(value, engine.budget)
      .map((item) => (attribute === null ? item : engine.member(item, attributeName(attribute))))
      .reduce((sum, item) => engine.add(sum, item), start);
  },
  batch: (value, args, { budget }) => {
    const size = args.integer('linecount');
    if (size < 1) throw refusal('a batch has at least one item');
    const items = listItems(value, budget);
    const fill = args.optional('fill_with');
    const rows: Value[] = [];
    for (let at = 0; at < items.length; at += size) {
      const row = items.slice(at, at + size);
      if (fill !== undefined && fill !== null) budget.list(size);
      const missing = fill === undefined || fill === null ? 0 : size - row.length;
      rows.push(new Sequence([...row, ...Array.from({ length: missing }, () => fill ?? null)]));
    }
    return new Sequence(rows);
  },
  map: (value, args, engine) => mapped(value, args, engine),
  select: (value, args, engine) => chosen(value, args, { engine, wanted: true, byAttribute: false }),
  reject: (value, args, engine) => chosen(value, args, { engine, wanted: false, byAttribute: false }),
  selectattr: (value, args, engine) => chosen(value, args, { engine, wanted: true, byAttribute: true }),
  rejectattr: (value, args, engine) => chosen(value, args, { engine, wanted: false, byAttribute: true }),
  groupby: (value, args, engine) => grouped(value, args, engine),
};

type Key = (item: Value) => Value;

function folded(value: Value, exact: boolean): Value {
  return isText(value) && !exact ? Text.own(value.string.toLowerCase()) : value;
}

function attributeKey(
  attribute: Value,
  { exact, engine }: { readonly exact: boolean; readonly engine: Engine },
): Key {
  return (item) =>
    folded(attribute === null ? item : memberAtPath(item, attributeName(attribute), engine), exact);
}

function memberAtPath(item: Value, path: string, engine: Engine): Value {
  return path.split('.').reduce<Value>((from, name) => engine.member(from, name), item);
}

function sorted(
  items: readonly Value[],
  { key, reverse }: { readonly key: Key; readonly reverse: boolean },
  budget: Budget,
): Value[] {
  const sign = reverse ? -1 : 1;
  return items
    .map((item) => ({ item, key: key(item) }))
    .sort((a, b) => sign * compare(a.key, b.key, budget))
    .map(({ item }) => item);
}

function extreme(value: Value, args: Parameters, engine: Engine, sign: 1 | -1): Value {
  const exact = args.flag('case_sensitive', false);
  const key = attributeKey(args.next('attribute'), { exact, engine });
  const items = listItems(value, engine.budget);
  const [first] = items;
  if (first === undefined) return new Undefined('No aggregated item, sequence was empty.');
  return items.reduce(
    (best, item) => (sign * compare(key(item), key(best), engine.budget) > 0 ? item : best),
    first,
  );
}

function mapped(value: Value, args: Parameters, engine: Engine): Value {
  const { positional, named } = args.rest();
  const items = isTrue(value) ? listItems(value, engine.budget) : [];
  const attribute = positional.length === 0 ? named.get('attribute') : undefined;
  if (attribute !== undefined) {
    const fallback = named.get('default');
    return new Sequence(
      items.map((item) => {
        const member = memberAtPath(item, attributeName(attribute), engine);
        return member instanceof Undefined && fallback !== undefined ? fallback : member;
      }),
    );
  }
  const [filter, ...rest] = positional;
  if (filter === undefined) throw refusal('map requires a filter argument');
  return new Sequence(
    items.map((item) => engine.filter(attributeName(filter), { positional: [item, ...rest], named })),
  );
}

interface Choice {
  readonly engine: Engine;
  readonly wanted: boolean;
  readonly byAttribute: boolean;
}

function chosen(value: Value, args: Parameters, { engine, wanted, byAttribute }: Choice): Value {
  const attribute = byAttribute ? attributeName(args.required('attribute')) : null;
  const { positional, named } = args.rest();
  const [test, ...rest] = positional;
  const name = test === undefined ? null : toText(test, engine.budget).string;
  const items = isTrue(value) ? listItems(value, engine.budget) : [];
  return new Sequence(
    items.filter((item) => {
      const member = attribute === null ? item : memberAtPath(item, attribute, engine);
      const holds =
        name === null ? isTrue(member) : engine.test(name, { positional: [member, ...rest], named });
      return holds === wanted;
    }),
  );
}

function grouped(value: Value, args: Parameters, engine: Engine): Value {
  const attribute = attributeName(args.required('attribute'));
  const fallback = args.next('default');
  const exact = args.flag('case_sensitive', false);
  const member = (item: Value): Value => {
    const found = memberAtPath(item, attribute, engine);
    return found instanceof Undefined && fallback !== null ? fallback : found;
  };
  const key: Key = (item) => folded(member(item), exact);
  const groups: { readonly key: Value; readonly grouper: Value; readonly items: Value[] }[] = [];
  for (const item of sorted(listItems(value, engine.budget), { key, reverse: false }, engine.budget)) {
    const last = groups.at(-1);
    if (last !== undefined && equal(last.key, key(item), engine.budget)) last.items.push(item);
    else groups.push({ key: key(item), grouper: member(item), items: [item] });
  }
  return new Sequence(groups.map(({ grouper, items }) => new Group(grouper, items)));
}
