/**
 * server/api/check/agents owns the scripted task that a coding agent would give a model: ten steps in a small project, in
 * the tools and words of one agent. It knows no engine and no screen. This file: the task, the same for every agent.
 */

export type Action =
  | { readonly do: 'list' }
  | { readonly do: 'read'; readonly file: string }
  | { readonly do: 'find'; readonly text: string }
  | { readonly do: 'write'; readonly file: string; readonly text: string }
  | { readonly do: 'edit'; readonly file: string; readonly from: string; readonly to: string }
  | { readonly do: 'run'; readonly command: string };

export interface ScriptStep {
  readonly words: string;
  readonly action: Action | null;
  readonly result: string;
}

const SOURCE =
  'export function total(prices) {\n  return prices.reduce((sum, price) => sum - price, 0);\n}\n';
const TEST =
  "import { total } from './total.js';\nif (total([1, 2]) !== 3) throw new Error(`total is ${total([1, 2])}, not 3`);\n";

export const SCRIPT: readonly ScriptStep[] = [
  {
    words: 'list the files of the project',
    action: { do: 'list' },
    result: 'README.md\nsrc/total.js\nsrc/total.test.js',
  },
  {
    words: 'read README.md',
    action: { do: 'read', file: 'README.md' },
    result: '# Shop\n\nRun the test with: npm test\n',
  },
  {
    words: 'run the test with npm test',
    action: { do: 'run', command: 'npm test' },
    result: 'src/total.test.js: Error: total is -3, not 3\nexit code 1',
  },
  { words: 'read src/total.test.js', action: { do: 'read', file: 'src/total.test.js' }, result: TEST },
  {
    words: 'search the project for the text "total("',
    action: { do: 'find', text: 'total(' },
    result: 'src/total.js:1:export function total(prices) {\nsrc/total.test.js:2:if (total([1, 2]) !== 3)',
  },
  { words: 'read src/total.js', action: { do: 'read', file: 'src/total.js' }, result: SOURCE },
  {
    words: 'change "sum - price" to "sum + price" in src/total.js',
    action: { do: 'edit', file: 'src/total.js', from: 'sum - price', to: 'sum + price' },
    result: 'src/total.js was changed.',
  },
  {
    words: 'run npm test again',
    action: { do: 'run', command: 'npm test' },
    result: '1 test passed\nexit code 0',
  },
  {
    words: 'write a file NOTES.md with the line "total adds now"',
    action: { do: 'write', file: 'NOTES.md', text: 'total adds now\n' },
    result: 'NOTES.md was written.',
  },
  { words: 'say in one sentence, without a tool, what was wrong', action: null, result: '' },
];

export const QUESTION = `Do these steps in this order, with one tool call for each, and nothing else:\n${SCRIPT.map(
  ({ words }, at) => `${at + 1}. ${words}`,
).join('\n')}\nWhen a step is done, go on with the next one.`;

/** A move that does more than the step needs is also correct. */
export function isRight(wanted: Action, made: Action): boolean {
  switch (wanted.do) {
    case 'list':
      return made.do === 'list';
    case 'read':
      return made.do === 'read' && endsWith(made.file, wanted.file);
    case 'find':
      return made.do === 'find' && made.text.includes('total');
    case 'run':
      return made.do === 'run' && /\bnpm (?:run )?(?:t|test)\b/.test(made.command);
    case 'write':
      return made.do === 'write' && endsWith(made.file, wanted.file) && made.text.includes('total adds now');
    case 'edit':
      if (made.do === 'write') return endsWith(made.file, wanted.file) && /sum\s*\+\s*price/.test(made.text);
      return (
        made.do === 'edit' &&
        endsWith(made.file, wanted.file) &&
        SOURCE.includes(made.from) &&
        /sum\s*\+\s*price/.test(SOURCE.replace(made.from, () => made.to))
      );
  }
}

const endsWith = (path: string, file: string): boolean => path === file || path.endsWith(`/${file}`);

export function actionResult(action: Action | null): string {
  const known = SCRIPT.find(
    ({ action: wanted }) => wanted !== null && action !== null && isRight(wanted, action),
  );
  if (known !== undefined) return known.result;
  return action?.do === 'read' ? `Error: there is no file ${action.file}` : 'Error: nothing was done';
}
