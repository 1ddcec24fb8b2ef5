/** `hearth launch`: a program under the name of an agent, against a running service. */
import { once } from 'node:events';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Installation, type Served } from '../support/process/installation.ts';

let installation: Installation;
let served: Served;
let programs: string;

/** Tells what it was given and asks the service with it; then ends as its first argument says. */
const STAND_IN = `#!${process.execPath}
const { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: key } = process.env;
const [, model, how] = process.argv.slice(2);
const response = await fetch(url + '/v1/models/' + model, { headers: { 'x-api-key': key } });
console.log(JSON.stringify({ args: process.argv.slice(2), url, status: response.status }));
if (how === 'wait') {
  process.on('SIGTERM', () => process.exit(43));
  setInterval(() => undefined, 60_000);
  console.log('waiting');
} else process.exit(Number(how));
`;

beforeAll(async () => {
  installation = await Installation.make();
  served = await installation.serve({ SVC_API_KEY: 'launch-key' });
  programs = path.join(installation.folder, 'programs');
  await mkdir(programs);
  // Its syntax is that of a module, which a file without an extension is only beside such a package.json.
  await writeFile(path.join(programs, 'package.json'), '{"type":"module"}');
  await writeFile(path.join(programs, 'claude'), STAND_IN);
  await chmod(path.join(programs, 'claude'), 0o755);
});
afterAll(() => installation.remove());

const settings = () => ({ SVC_PORT: served.port, SVC_API_KEY: 'launch-key', PATH: programs });
const launch = (...args: string[]) => installation.run(['launch', ...args], settings());

describe.skipIf(process.platform === 'win32')('hearth launch', () => {
  it('starts the program with what it needs, says what it set, and ends with its exit code', async () => {
    const { code, stdout, stderr } = await launch('claude', '--', '7', '--print');
    expect(JSON.parse(stdout)).toEqual({
      args: ['--model', 'hearth-mini', '7', '--print'],
      url: served.url,
      status: 200,
    });
    expect(code).toBe(7);
    expect(stderr).toMatch(/Claude Code uses hearth-mini \(\d+ tokens\) at/);
    // It was trained for no more, so a setting would not help.
    expect(stderr).toMatch(
      /The window of hearth-mini has 1024 tokens, .*; choose a model with a larger one\./,
    );
    expect(stderr).toContain('ANTHROPIC_BASE_URL');
    expect(stderr).not.toContain('launch-key');
  });

  it('passes a signal on', async () => {
    const child = installation.start(['launch', 'claude', '--', 'wait'], settings());
    let said = '';
    for await (const chunk of child.stdout!) {
      said += String(chunk);
      if (said.includes('waiting')) break;
    }
    const ended = once(child, 'close');
    child.kill('SIGTERM');
    expect((await ended)[0]).toBe(43);
  });

  it('only prints with --print, and names the key instead of showing it', async () => {
    const { code, stdout } = await launch('codex', '--print', '--', 'exec', 'two words');
    expect(code).toBe(0);
    expect(stdout).toContain('export HEARTH_API_KEY="$SVC_API_KEY"\n');
    expect(stdout).toMatch(/^codex .*--model hearth-mini -c model_context_window=1024 exec 'two words'\n$/m);
    expect(stdout).not.toContain('launch-key');
  });

  it('prints the same whether the model is loaded or not, and says which window it states', async () => {
    await installation.run(['run', 'hearth-mini', 'Hello'], settings());
    const loaded = await launch('codex', '--print');
    await installation.run(['stop', 'hearth-mini'], settings());
    const unloaded = await launch('codex', '--print');
    expect(unloaded.stdout).toBe(loaded.stdout);
    expect(loaded.stderr).not.toContain('is not loaded');
    expect(unloaded.stderr).toContain(
      'hearth-mini is not loaded; a load would get a window of 1024 tokens now.',
    );
    const ps = await installation.run(['ps'], settings());
    expect(ps.stdout + ps.stderr).not.toContain('hearth-mini');
  });

  it('refuses what is not there, and says what helps', async () => {
    const missing = await launch('codex');
    expect([missing.code, missing.stderr]).toEqual([
      4,
      expect.stringContaining('npm install -g @openai/codex'),
    ]);
    // Said before the service is asked, let alone a model loaded.
    const first = await installation.run(['launch', 'codex'], { ...settings(), SVC_PORT: '1' });
    expect([first.code, first.stderr]).toEqual([4, missing.stderr]);
    const unknown = await launch('clude');
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toMatch(/codex, claude, opencode.*Did you mean claude\?/);
    const model = await launch('claude', '--model', 'hearth-mni');
    expect([model.code, model.stderr]).toEqual([4, expect.stringContaining('did you mean hearth-mini?')]);
    const nobody = await installation.run(['launch', 'claude'], { ...settings(), SVC_PORT: '1' });
    expect([nobody.code, nobody.stderr]).toEqual([3, expect.stringContaining('no server answers')]);
  });
});
