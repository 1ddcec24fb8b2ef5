/** A template that is parsed, and its rendering with bounds on its work and on the size of every value. */
import { Evaluator } from './evaluator.ts';
import { functions } from './library/functions.ts';
import { Scope } from './scope.ts';
import { parseTemplate, type Statement } from './syntax.ts';
import { type Bounds, Budget } from './values/budget.ts';
import { toValue } from './values/convert.ts';
import type { Text } from './values/text.ts';
import { refusal } from './values/values.ts';

export class Program {
  readonly body: readonly Statement[];

  /** Throws an Error with the parser's reason. */
  constructor(source: string) {
    this.body = parseTemplate(source);
  }

  /** Throws a refusal with the template's own reason, or with what it cannot do. */
  render(variables: Readonly<Record<string, unknown>>, bounds: Bounds): Text {
    const budget = new Budget(bounds);
    const globals = new Scope();
    for (const [name, value] of functions(budget)) globals.set(name, value);
    for (const [name, value] of Object.entries(variables)) globals.set(name, toValue(value));
    try {
      return new Evaluator(budget).render(this.body, new Scope(globals));
    } catch (error) {
      // The stack of this process ends before its counted steps do, where values or macros nest without end.
      if (error instanceof RangeError) throw refusal('the chat template nests too deeply', error);
      throw error;
    }
  }
}
