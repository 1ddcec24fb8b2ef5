/**
 * chat-templates/jinja owns the rendering of chat templates: Jinja as transformers configures it, on texts that know
 * which characters came from a client, with counted steps. It knows nothing of chats, models or tokens.
 * @huggingface/jinja parses; this evaluates.
 */
import { bindArguments, evaluateArguments } from './arguments.ts';
import type { Engine } from './library/engine.ts';
import { FILTERS } from './library/filters.ts';
import { Parameters } from './library/parameters.ts';
import { TESTS } from './library/tests.ts';
import { loopItems } from './loop.ts';
import { getAttribute, getItem, getMember, getSlice } from './members.ts';
import { negate, operate } from './operators.ts';
import { Scope } from './scope.ts';
import type {
  Argument,
  CallBlock,
  Expression,
  For,
  Identifier,
  Call,
  Macro,
  Member,
  Parameter,
  SetStatement,
  Statement,
} from './syntax.ts';
import type { Budget } from './values/budget.ts';
import { listItems } from './values/comparing.ts';
import { Text } from './values/text.ts';
import {
  type Arguments,
  Callable,
  Dict,
  Float,
  isTrue,
  Namespace,
  orElse,
  Sequence,
  refusal,
  Undefined,
  typeName,
  type Value,
} from './values/values.ts';
import { toText } from './values/writing.ts';

/** Nested macro calls. Python fails at about 330, with 1000 calls. */
const DEEPEST_CALL = 250;

type End = 'end' | 'break' | 'continue';

export class Evaluator implements Engine {
  readonly budget: Budget;
  #depth = 0;

  constructor(budget: Budget) {
    this.budget = budget;
  }

  render(body: readonly Statement[], scope: Scope): Text {
    const out: Text[] = [];
    this.#block(body, scope, out);
    return this.#joined(out);
  }

  #joined(parts: readonly Text[]): Text {
    this.budget.text(parts.reduce((sum, { string }) => sum + string.length, 0));
    // Output is plain again, even if all of it was markup.
    return Text.concat(parts).asPlain;
  }

  #block(body: readonly Statement[], scope: Scope, out: Text[]): End {
    for (const statement of body) {
      const end = this.#statement(statement, scope, out);
      if (end !== 'end') return end;
    }
    return 'end';
  }

  #statement(statement: Statement, scope: Scope, out: Text[]): End {
    this.budget.spend(1);
    switch (statement.type) {
      case 'Comment':
        return 'end';
      case 'Break':
        return 'break';
      case 'Continue':
        return 'continue';
      case 'If':
        return this.#block(
          isTrue(this.evaluate(statement.test, scope)) ? statement.body : statement.alternate,
          scope,
          out,
        );
      case 'For':
        this.#loop(statement, scope, out);
        return 'end';
      case 'Set':
        this.#assign(statement, scope);
        return 'end';
      case 'Macro':
        scope.set(statement.name.value, this.#macro(statement, scope));
        return 'end';
      case 'CallStatement':
        out.push(this.#callBlock(statement, scope));
        return 'end';
      case 'FilterStatement': {
        const text = this.render(statement.body, new Scope(scope));
        out.push(toText(this.#filtered(text, statement.filter, scope), this.budget));
        return 'end';
      }
      default: {
        const text = toText(this.evaluate(statement, scope), this.budget);
        this.budget.text(text.string.length);
        if (text.string !== '') out.push(text);
        return 'end';
      }
    }
  }

  evaluate(node: Expression, scope: Scope): Value {
    this.budget.spend(1);
    switch (node.type) {
      case 'Identifier':
        return orElse(scope.get(node.value), () => constant(node.value));
      case 'StringLiteral':
        return Text.own(node.value);
      case 'IntegerLiteral':
        return node.value;
      case 'FloatLiteral':
        return new Float(node.value);
      case 'ArrayLiteral':
        return new Sequence(this.#all(node.value, scope));
      case 'TupleLiteral':
        return new Sequence(this.#all(node.value, scope), 'tuple');
      case 'ObjectLiteral':
        return new Dict(
          [...node.value].map(
            ([key, value]) => [this.evaluate(key, scope), this.evaluate(value, scope)] as const,
          ),
        );
      case 'MemberExpression':
        return this.#member(node, scope);
      case 'CallExpression':
        return this.call(this.evaluate(node.callee, scope), this.#arguments(node.args, scope));
      case 'FilterExpression':
        return this.#filtered(this.evaluate(node.operand, scope), node.filter, scope);
      case 'TestExpression':
        return (
          this.test(node.test.value, {
            positional: [this.evaluate(node.operand, scope)],
            named: new Map(),
          }) !== node.negate
        );
      case 'UnaryExpression': {
        const value = this.evaluate(node.argument, scope);
        if (node.operator.value === 'not') return !isTrue(value);
        return node.operator.value === '-' ? negate(value) : value;
      }
      case 'Ternary':
        return this.evaluate(
          isTrue(this.evaluate(node.condition, scope)) ? node.trueExpr : node.falseExpr,
          scope,
        );
      case 'SelectExpression':
        return isTrue(this.evaluate(node.test, scope))
          ? this.evaluate(node.lhs, scope)
          : new Undefined('the inline if-expression evaluated to false and no else section was defined.');
      case 'BinaryExpression': {
        const left = this.evaluate(node.left, scope);
        if (node.operator.value === 'and') return isTrue(left) ? this.evaluate(node.right, scope) : left;
        if (node.operator.value === 'or') return isTrue(left) ? left : this.evaluate(node.right, scope);
        return operate(node.operator.value, left, this.evaluate(node.right, scope), this.budget);
      }
    }
  }

  member(object: Value, name: string): Value {
    if (/^\d+$/.test(name)) return getItem(object, Number(name), this.budget);
    return getItem(object, Text.own(name), this.budget);
  }

  attribute(object: Value, name: string): Value {
    return getAttribute(object, name, this.budget);
  }

  add(left: Value, right: Value): Value {
    return operate('+', left, right, this.budget);
  }

  call(callable: Value, args: Arguments): Value {
    if (callable instanceof Undefined) throw refusal(callable.reason);
    if (!(callable instanceof Callable)) throw refusal(`'${typeName(callable)}' object is not callable`);
    return callable.call(args);
  }

  filter(name: string, { positional: [value, ...rest], named }: Arguments): Value {
    const filter = FILTERS.get(name);
    if (filter === undefined) throw refusal(`No filter named '${name}' found.`);
    this.budget.spend(1);
    return filter(value ?? null, new Parameters({ positional: rest, named }), this);
  }

  test(name: string, { positional: [value, ...rest], named }: Arguments): boolean {
    const test = TESTS.get(name);
    if (test === undefined) throw refusal(`No test named '${name}' found.`);
    this.budget.spend(1);
    return test(value ?? null, new Parameters({ positional: rest, named }), this.budget);
  }

  #all(nodes: readonly Expression[], scope: Scope): Value[] {
    return nodes.map((node) => this.evaluate(node, scope));
  }

  #arguments(nodes: readonly Argument[], scope: Scope): Arguments {
    return evaluateArguments(nodes, (node) => this.evaluate(node, scope), this.budget);
  }

  #member({ object, property, computed }: Member, scope: Scope): Value {
    const owner = this.evaluate(object, scope);
    if (property.type === 'SliceExpression') {
      const bound = (node: Expression | undefined): Value =>
        node === undefined ? null : this.evaluate(node, scope);
      const bounds = { start: bound(property.start), stop: bound(property.stop), step: bound(property.step) };
      return getSlice(owner, bounds, this.budget);
    }
    if (computed || property.type !== 'Identifier')
      return getItem(owner, this.evaluate(property, scope), this.budget);
    return getMember(owner, property.value, this.budget);
  }

  #filtered(value: Value, filter: Identifier | Call, scope: Scope): Value {
    const [name, nodes] =
      filter.type === 'Identifier' ? [filter.value, []] : [calleeName(filter), filter.args];
    const { positional, named } = this.#arguments(nodes, scope);
    return this.filter(name, { positional: [value, ...positional], named });
  }

  #loop({ loopvar, iterable, body, defaultBlock }: For, scope: Scope, out: Text[]): void {
    const items = this.#iterated({ loopvar, iterable }, scope);
    if (items.length === 0) {
      this.#block(defaultBlock, new Scope(scope), out);
      return;
    }
    for (const { item, loop } of loopItems(items, this.budget)) {
      const inner = new Scope(scope);
      inner.set('loop', loop);
      this.#bind(loopvar, item, inner);
      if (this.#block(body, inner, out) === 'break') return;
    }
  }

  #iterated({ loopvar, iterable }: Pick<For, 'loopvar' | 'iterable'>, scope: Scope): readonly Value[] {
    if (iterable.type !== 'SelectExpression') return listItems(this.evaluate(iterable, scope), this.budget);
    return listItems(this.evaluate(iterable.lhs, scope), this.budget).filter((item) => {
      const inner = new Scope(scope);
      this.#bind(loopvar, item, inner);
      return isTrue(this.evaluate(iterable.test, inner));
    });
  }

  #assign({ assignee, value, body }: SetStatement, scope: Scope): void {
    const assigned = value === null ? this.render(body, new Scope(scope)) : this.evaluate(value, scope);
    this.#bind(assignee, assigned, scope);
  }

  #bind(target: Expression, value: Value, scope: Scope): void {
    if (target.type === 'Identifier') {
      scope.set(target.value, value);
    } else if (target.type === 'TupleLiteral') {
      const items = listItems(value, this.budget);
      if (items.length !== target.value.length)
        throw refusal(`${items.length} values cannot be unpacked into ${target.value.length} names`);

      for (const [i, name] of target.value.entries()) this.#bind(name, items[i] ?? null, scope);
    } else if (target.type === 'MemberExpression' && target.property.type === 'Identifier') {
      const owner = this.evaluate(target.object, scope);
      if (!(owner instanceof Namespace)) throw refusal('cannot assign attribute on non-namespace object');
      owner.members.set(target.property.value, value);
    } else {
      throw refusal('this cannot be assigned to');
    }
  }

  #macro({ name, args, body }: Pick<Macro, 'name' | 'args' | 'body'>, scope: Scope): Callable {
    return this.#callable(name.value, { parameters: args, body }, scope);
  }

  #callable(
    name: string,
    { parameters, body }: { readonly parameters: readonly Parameter[]; readonly body: readonly Statement[] },
    scope: Scope,
  ): Callable {
    return new Callable(name, (args) => {
      const inner = new Scope(scope);
      const bound = bindArguments(name, parameters, args);
      for (const [parameter, value] of bound) {
        const missing = (): Value => new Undefined(`parameter '${parameter}' was not provided`);
        inner.set(parameter, orElse(value, missing));
      }
      for (const parameter of parameters) {
        if (parameter.type === 'KeywordArgumentExpression' && bound.get(parameter.key.value) === undefined)
          inner.set(parameter.key.value, this.evaluate(parameter.value, inner));
      }
      const caller = args.named.get('caller');
      if (caller !== undefined) inner.set('caller', caller);
      this.#depth += 1;
      if (this.#depth > DEEPEST_CALL) throw refusal('maximum recursion depth exceeded');
      const text = this.render(body, inner);
      this.#depth -= 1;
      return text;
    });
  }

  #callBlock({ call, callerArgs, body }: CallBlock, scope: Scope): Text {
    const { positional, named } = this.#arguments(call.args, scope);
    const caller = this.#callable('caller', { parameters: callerArgs ?? [], body }, scope);
    const callee = this.evaluate(call.callee, scope);
    return toText(
      this.call(callee, { positional, named: new Map([...named, ['caller', caller]]) }),
      this.budget,
    );
  }
}

const CONSTANTS = new Map<string, Value>([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['none', null],
  ['None', null],
]);

function constant(name: string): Value {
  return orElse(CONSTANTS.get(name), () => new Undefined(`'${name}' is undefined`));
}

function calleeName({ callee }: Call): string {
  if (callee.type === 'Identifier') return callee.value;
  throw refusal('a filter has a name');
}
