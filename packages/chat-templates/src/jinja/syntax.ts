/**
 * The syntax tree of @huggingface/jinja and the preparation of its input. The package's own declarations cannot be
 * resolved under this project's module rules, so the types are declared here.
 */
import { Template } from '@huggingface/jinja';

interface Operator {
  readonly value: string;
}

export interface Identifier {
  readonly type: 'Identifier';
  readonly value: string;
}

export interface Call {
  readonly type: 'CallExpression';
  readonly callee: Expression;
  readonly args: readonly Argument[];
}

export interface Member {
  readonly type: 'MemberExpression';
  readonly object: Expression;
  readonly property: Expression | Slice;
  readonly computed: boolean;
}

interface Slice {
  readonly type: 'SliceExpression';
  readonly start?: Expression;
  readonly stop?: Expression;
  readonly step?: Expression;
}

export type Argument =
  | Expression
  | { readonly type: 'KeywordArgumentExpression'; readonly key: Identifier; readonly value: Expression }
  | { readonly type: 'SpreadExpression'; readonly argument: Expression }
  | { readonly type: 'KeywordSpreadExpression'; readonly argument: Expression };

export type Parameter =
  | Identifier
  | { readonly type: 'KeywordArgumentExpression'; readonly key: Identifier; readonly value: Expression };

interface Literal<Type, Content> {
  readonly type: Type;
  readonly value: Content;
}

interface Binary {
  readonly type: 'BinaryExpression';
  readonly operator: Operator;
  readonly left: Expression;
  readonly right: Expression;
}

interface Select {
  readonly type: 'SelectExpression';
  readonly lhs: Expression;
  readonly test: Expression;
}

export type Expression =
  | Identifier
  | Call
  | Member
  | Binary
  | Select
  | Literal<'StringLiteral', string>
  | Literal<'IntegerLiteral' | 'FloatLiteral', number>
  | Literal<'ArrayLiteral' | 'TupleLiteral', readonly Expression[]>
  | Literal<'ObjectLiteral', ReadonlyMap<Expression, Expression>>
  | { readonly type: 'FilterExpression'; readonly operand: Expression; readonly filter: Identifier | Call }
  | {
      readonly type: 'TestExpression';
      readonly operand: Expression;
      readonly negate: boolean;
      readonly test: Identifier;
    }
  | { readonly type: 'UnaryExpression'; readonly operator: Operator; readonly argument: Expression }
  | {
      readonly type: 'Ternary';
      readonly condition: Expression;
      readonly trueExpr: Expression;
      readonly falseExpr: Expression;
    };

export interface For {
  readonly type: 'For';
  readonly loopvar: Expression;
  readonly iterable: Expression;
  readonly body: readonly Statement[];
  readonly defaultBlock: readonly Statement[];
}

export interface Macro {
  readonly type: 'Macro';
  readonly name: Identifier;
  readonly args: readonly Parameter[];
  readonly body: readonly Statement[];
}

export interface SetStatement {
  readonly type: 'Set';
  readonly assignee: Expression;
  readonly value: Expression | null;
  readonly body: readonly Statement[];
}

export interface CallBlock {
  readonly type: 'CallStatement';
  readonly call: Call;
  readonly callerArgs: readonly Parameter[] | null;
  readonly body: readonly Statement[];
}

export type Statement =
  | Expression
  | For
  | Macro
  | SetStatement
  | CallBlock
  | {
      readonly type: 'If';
      readonly test: Expression;
      readonly body: readonly Statement[];
      readonly alternate: readonly Statement[];
    }
  | {
      readonly type: 'FilterStatement';
      readonly filter: Identifier | Call;
      readonly body: readonly Statement[];
    }
  | { readonly type: 'Comment' | 'Break' | 'Continue' };

export function parseTemplate(source: string): readonly Statement[] {
  try {
    const { parsed } = new Template(source.replace(/\r\n?/g, '\n'));
    return (parsed as unknown as { readonly body: readonly Statement[] }).body;
  } catch (error) {
    throw new Error(`the chat template cannot be parsed: ${whyNotParsed(error)}`, { cause: error });
  }
}

/** For unclosed constructs, the parser reads past the end and fails with an unrelated error. */
function whyNotParsed(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  return error instanceof TypeError || reason === 'Unexpected end of input'
    ? 'it ends inside a block or an expression'
    : reason.trimEnd().replace(/\.$/, '');
}
