/** The examples of the documentation: that of the README in the project that it tells to make, the others in a shell. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Installation, type Served } from '../support/process/installation.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
let installation: Installation;
let served: Served;
let project: string;

beforeAll(async () => {
  installation = await Installation.make();
  served = await installation.serve();
  project = await mkdtemp(path.join(tmpdir(), 'hearth-readme-'));
});
afterAll(async () => {
  await installation.remove();
  await rm(project, { recursive: true, force: true });
});

it('runs after npm init -y, under the name that it is given', async () => {
  const readme = await readFile(path.join(root, 'README.md'), 'utf8');
  const [, example = ''] = /```js\n([\s\S]*?)```/.exec(readme) ?? [];
  const [, name = ''] = /^\/\/ (\S+)$/m.exec(example) ?? [];
  expect(readme).toContain(`node ${name}`);
  expect(example).toContain('http://127.0.0.1:8740/v1');
  await run('npm', ['init', '-y'], { cwd: project, shell: process.platform === 'win32' });
  // In place of npm install openai.
  await mkdir(path.join(project, 'node_modules'));
  await symlink(
    path.join(root, 'node_modules', 'openai'),
    path.join(project, 'node_modules', 'openai'),
    'dir',
  );
  await writeFile(path.join(project, name), example.replace('http://127.0.0.1:8740', served.url));
  const { stdout } = await run(process.execPath, [name], { cwd: project });
  expect(readme).toContain(stdout.trim());
});

describe('the commands of a page', () => {
  type Shown = readonly (readonly [string, RegExp])[];

  /** What each example must show, in the order of the page. */
  const examples: Shown = [
    ['a stream', /^data: \{.*\ndata: \[DONE\]\n\n$/s],
    ['a call', /"finish_reason":"tool_calls"/],
    ['the answer from its result', /"content":"[^"]*\bcloudy\b/],
    ['JSON of a shape', /"content":"\{\\"greeting\\": ?(true|false)\}"/],
    ['a message', /"type":"message".*"text":"Hello/s],
    ['a response', /"object":"response".*"text":"Hello/s],
    ['vectors', /^\{"object":"list","data":\[\{"object":"embedding","index":0,/],
  ];

  const begun: Shown = [['a begun answer', /"content":"-first server /]];

  it.each([
    { name: 'chat.md', shown: examples },
    { name: 'structured-output.md', shown: begun },
  ])('$name show what it says', async ({ name: file, shown }) => {
    const page = await readFile(path.join(root, 'docs', file), 'utf8');
    const scripts = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, script = '']) => script);
    expect(scripts).toHaveLength(shown.length);
    for (const [at, [name, words]] of shown.entries()) {
      const script = scripts[at]?.replace('http://127.0.0.1:8740', served.url) ?? '';
      expect((await run('bash', ['-euc', script])).stdout, name).toMatch(words);
    }
  });
});
