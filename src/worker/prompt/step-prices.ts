/**
 * What a value costs by its size, in interpreter steps. A loop with an empty body, a filter or a concatenation is one
 * node of the program, but works through a whole list.
 */

/** A turn of a loop costs about as much as eight evaluated nodes, even when its body is empty. */
const PER_TURN = 8;
/** Copying, comparing, sorting or writing a list. */
const PER_ELEMENT = 1;
const CHARACTERS_PER_STEP = 32;
/** They look at one element, however long the list is. */
const CONSTANT_FILTERS = new Set(['length', 'count', 'first', 'last']);
/** Equality compares lists by identity. */
const LIST_OPERATORS = new Set(['+', '~', 'in', 'not in']);
/** Where an expression alone is written out. */
const BLOCKS = ['body', 'alternate', 'defaultBlock'];

interface Node {
  readonly type: string;
  readonly [member: string]: unknown;
}

export function priceOfText(text: string): number {
  return Math.floor(text.length / CHARACTERS_PER_STEP);
}

/** For each node of a program whose list is made or walked through: steps per element. Other lists are only passed on. */
export function elementPrices(program: object): WeakMap<object, number> {
  const prices = new WeakMap<object, number>();
  const raise = (node: unknown, price: number): void => {
    if (isNode(node)) prices.set(node, Math.max(price, prices.get(node) ?? 0));
  };
  const open: unknown[] = [program];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    if (isNode(value)) {
      for (const node of walkedBy(value)) raise(node, PER_ELEMENT);
      if (makesList(value)) raise(value, PER_ELEMENT);
      if (value.type === 'For') raise(loopedBy(value), PER_TURN);
    }
    open.push(...(value instanceof Map ? [...value].flat() : Object.values(value)));
  }
  return prices;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'type') === 'string';
}

/** With `for x in list if test`, the list stands inside the condition. */
function loopedBy({ iterable }: Node): unknown {
  return isNode(iterable) && iterable.type === 'SelectExpression' ? iterable['lhs'] : iterable;
}

function makesList(node: Node): boolean {
  const isAtomic = node.type === 'Identifier' || (node.type === 'MemberExpression' && !isSlice(node));
  const passesOn = ['Ternary', 'SelectExpression', 'BinaryExpression'].includes(node.type);
  return !isAtomic && (!passesOn || isListOperation(node));
}

/** The operands that a node works through. */
function walkedBy(node: Node): readonly unknown[] {
  if (node.type === 'FilterExpression') return isConstantFilter(node) ? [] : [node['operand']];
  if (node.type === 'MemberExpression') return isSlice(node) ? [node['object']] : [];
  if (node.type === 'BinaryExpression') return isListOperation(node) ? [node['left'], node['right']] : [];
  if (node.type === 'CallExpression') return node['args'] as readonly unknown[];
  if (node.type === 'SpreadExpression') return [node['argument']];
  return BLOCKS.flatMap((name) => node[name] ?? []);
}

function isSlice({ property }: Node): boolean {
  return isNode(property) && property.type === 'SliceExpression';
}

function isListOperation({ operator }: Node): boolean {
  return LIST_OPERATORS.has(String(Reflect.get(Object(operator), 'value')));
}

function isConstantFilter({ filter }: Node): boolean {
  return isNode(filter) && CONSTANT_FILTERS.has(String(filter['value']));
}
