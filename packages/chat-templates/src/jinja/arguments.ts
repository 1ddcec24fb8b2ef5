import type { Argument, Expression, Parameter } from './syntax.ts';
import type { Budget } from './values/budget.ts';
import { listItems } from './values/comparing.ts';
import { type Arguments, Dict, isText, refusal, type Value } from './values/values.ts';

export function evaluateArguments(
  nodes: readonly Argument[],
  evaluate: (node: Expression) => Value,
  budget: Budget,
): Arguments {
  const positional: Value[] = [];
  const named = new Map<string, Value>();
  for (const node of nodes) {
    if (node.type === 'KeywordArgumentExpression') {
      named.set(node.key.value, evaluate(node.value));
    } else if (node.type === 'SpreadExpression') {
      positional.push(...listItems(evaluate(node.argument), budget));
    } else if (node.type === 'KeywordSpreadExpression') {
      const dict = evaluate(node.argument);
      if (!(dict instanceof Dict)) throw refusal('argument after ** must be a mapping');
      for (const [key, value] of dict.entries()) if (isText(key)) named.set(key.string, value);
    } else {
      positional.push(evaluate(node));
    }
  }
  return { positional, named };
}

export function bindArguments(
  macro: string,
  parameters: readonly Parameter[],
  { positional, named }: Arguments,
): Map<string, Value | undefined> {
  const names = parameters.map((parameter) =>
    parameter.type === 'Identifier' ? parameter.value : parameter.key.value,
  );
  if (positional.length > names.length)
    throw refusal(`macro '${macro}' takes not more than ${names.length} argument(s)`);
  const unknown = [...named.keys()].find((name) => name !== 'caller' && !names.includes(name));
  if (unknown !== undefined) throw refusal(`macro '${macro}' takes no keyword argument '${unknown}'`);
  return new Map(names.map((name, i) => [name, i < positional.length ? positional[i] : named.get(name)]));
}
