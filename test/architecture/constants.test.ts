/**
 * One style for module constants: what is written out as data (a number, a text, a pattern, or a list, set, map or
 * object of such) is in UPPER_CASE; a function never is. Schemas and computed values are free of this rule.
 */
import { parseAst } from 'rolldown/parseAst';
import { describe, expect, it } from 'vitest';
import { files, textOf } from './sources.ts';

interface Node {
  readonly type: string;
  readonly [member: string]: unknown;
}

interface Constant {
  readonly file: string;
  readonly name: string;
  readonly isData: boolean;
  readonly isFunction: boolean;
}

const upperCase = /^[A-Z][A-Z0-9]+(_[A-Z0-9]+)*$/;

/** Whether the value is written out: literals, and structures and arithmetic of them and of other such constants. */
function isData(node: Node): boolean {
  const at = (member: string): Node => node[member] as Node;
  const all = (member: string): boolean => {
    const parts = node[member] as readonly Node[];
    return parts.length > 0 && parts.every(isData);
  };
  switch (node.type) {
    case 'Literal':
      return node['value'] !== null || node['regex'] !== undefined;
    case 'TemplateLiteral':
      return (node['expressions'] as readonly Node[]).length === 0;
    case 'UnaryExpression':
    case 'SpreadElement':
      return isData(at('argument'));
    case 'BinaryExpression':
      return isData(at('left')) && isData(at('right'));
    case 'TSAsExpression':
    case 'TSSatisfiesExpression':
      return isData(at('expression'));
    case 'MemberExpression':
      return isData(at('object'));
    case 'ArrayExpression':
      return all('elements');
    case 'ObjectExpression':
      return all('properties');
    case 'Property':
      return isData(at('value'));
    case 'NewExpression':
      return ['Set', 'Map'].includes(String(at('callee')['name'])) && all('arguments');
    case 'Identifier':
      return upperCase.test(String(node['name']));
    default:
      return false;
  }
}

function constantsOf(file: string): Constant[] {
  const { body } = parseAst(textOf(file), { lang: 'ts', sourceType: 'module' }) as unknown as {
    readonly body: readonly Node[];
  };
  return body
    .map((node) => (node.type === 'ExportNamedDeclaration' ? (node['declaration'] as Node | null) : node))
    .filter((node): node is Node => node?.type === 'VariableDeclaration' && node['kind'] === 'const')
    .flatMap((node) => node['declarations'] as readonly { readonly id: Node; readonly init: Node | null }[])
    .filter(({ id, init }) => id.type === 'Identifier' && init !== null && init.type !== 'Identifier')
    .map(({ id, init }) => ({
      file,
      name: String(id['name']),
      isData: isData(init as Node),
      isFunction: /Function/.test((init as Node).type),
    }));
}

const constants = files.flatMap(constantsOf);
const written = (list: readonly Constant[]): string[] => list.map(({ file, name }) => `${file}: ${name}`);

describe('module constants', () => {
  it('are found', () => {
    expect(constants.filter((constant) => constant.isData).length).toBeGreaterThan(200);
    expect(constants.filter(({ isFunction }) => isFunction).length).toBeGreaterThan(30);
  });

  it('are written in upper case when they are data', () => {
    expect(written(constants.filter((each) => each.isData && !upperCase.test(each.name)))).toEqual([]);
  });

  it('are not written in upper case when they are functions', () => {
    expect(written(constants.filter((each) => each.isFunction && upperCase.test(each.name)))).toEqual([]);
  });
});
