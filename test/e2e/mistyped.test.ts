/** Every verb with a mistyped model, name or flag: it fails, prints no result, and changes nothing. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtDist, finish, hearth } from '../support/process/hearth.ts';
import { Installation, type Served } from '../support/process/installation.ts';

let installation: Installation;
let served: Served;
beforeAll(async () => {
  installation = await Installation.make();
  served = await installation.serve();
});
afterAll(() => installation.remove());

const settings = () => ({ SVC_PORT: served.port, SVC_HUB_HOSTS: '', SVC_HOME: installation.home });
const MINI = /is not installed; (?:.* )?did you mean hearth-mini\?/i;
const ENGINE = /There is no upstream, engine or pool "nope"/;

const ROWS: readonly (readonly [verb: string, rest: readonly string[], code: number, says: RegExp])[] = [
  ['run', ['hearth-minni', 'hello'], 4, MINI],
  ['run', ['hearth-minni', 'hello there'], 4, MINI],
  ['run', ['mistral', 'hello'], 4, /"mistral" is not installed.*hearth pull bartowski\/Mistral-7B/],
  ['run', ['llama3.2:1b', 'hi'], 4, /hearth pull bartowski\/Llama-3\.2-1B-Instruct-GGUF /],
  ['run', ['tell', 'me', 'a', 'joke'], 4, /To ask the default model: hearth run default "tell me a joke"/],
  ['run', ['Hello'], 4, /To ask the default model: hearth run default "Hello"/],
  ['stop', ['hearth-minni'], 4, MINI],
  ['show', ['hearth-minni'], 4, MINI],
  ['default', ['hearth-minni'], 4, MINI],
  ['set', ['hearth-minni', 'temperature=1'], 4, MINI],
  ['set', ['hearth-mini', 'temprature=1'], 2, /there is no setting temprature\. Did you mean temperature\?/],
  ['verify', ['hearth-mini', 'hearth-minni'], 4, MINI],
  ['check', ['hearth-minni'], 4, MINI],
  ['eval', ['hearth-minni'], 4, MINI],
  ['eval', ['hearth-mini', '--against', 'hearth-minni'], 4, MINI],
  ['upgrade', ['hearth-minni', '--library', 'package'], 4, MINI],
  ['upgrade', ['hearth-mini', '--to', 'hearth-minni'], 4, MINI],
  ['exact', ['hearth-minni'], 4, MINI],
  ['fit', ['hearth-minni'], 4, MINI],
  ['bench', ['hearth-minni'], 4, MINI],
  ['alias', ['another', 'hearth-minni'], 4, MINI],
  ['cp', ['hearth-minni', 'another'], 4, MINI],
  ['pool add', ['p', 'hearth-minni'], 4, MINI],
  // The first is there: it must stay.
  ['rm', ['hearth-mini', 'hearth-minni'], 4, MINI],
  ['restore', ['hearth-minni'], 2, /does not ship with Hearth, which has hearth-mini and hearth-embed/],
  ['pull', ['hearth-minni'], 2, /is not a model reference/],
  ['pull', ['qwen3:0.6b'], 2, /hearth pull Qwen\/Qwen3-0\.6B-GGUF /],
  ['fit', ['gemma3:270m'], 2, /hearth pull ggml-org\/gemma-3-270m-it-GGUF /],
  ['import', ['nowhere.gguf'], 4, /There is no file/],
  ['import', ['--from', 'olama'], 4, /there is no store or folder olama; .* Did you mean ollama\?/],
  ['launch', ['codx'], 2, /there is no tool codx.* Did you mean codex\?/],
  ['launch', ['codex', '--model', 'hearth-minni', '--print'], 4, MINI],
  ['requests', ['99999'], 4, /Request 99999 is not in memory/],
  ['cache why', ['nope'], 4, /There is no cache report for request "nope"/],
  ['cache pin', ['hearth-minni'], 4, MINI],
  ['cache unpin', ['nope'], 4, /There is no pin "nope" of your key/],
  ['evidence verify', ['nope'], 4, /there is no such file/],
  ['evidence show', ['nope'], 4, /There is no file/],
  ['evidence replay', ['nope'], 4, /There is no file/],
  ['upstream add', ['x', 'notaurl'], 1, /so nothing was added/],
  ['upstream show', ['nope'], 4, ENGINE],
  ['upstream rm', ['nope'], 4, ENGINE],
  ['upstream test', ['nope'], 4, ENGINE],
  ['engine add', ['x', 'no-such-program', '{port}'], 1, /there is no program no-such-program/],
  ['engine show', ['nope'], 4, ENGINE],
  ['engine rm', ['nope'], 4, ENGINE],
  ['pool show', ['nope'], 4, ENGINE],
  ['pool rm', ['nope'], 4, ENGINE],
  ['key rm', ['nope'], 4, /There is no API key "nope"/],
  ['key set', ['nope', '--requests', '2'], 4, /There is no API key "nope"/],
  ['key rotate', ['nope'], 4, /There is no API key "nope"/],
  ['gpu install', ['vulcan'], 2, /not one of cuda, vulkan/],
  ['gpu remove', ['vulcan'], 2, /not one of cuda, vulkan/],
  ['library use', ['nowhere'], 2, /there is no such folder/],
  ['library switch', ['nope'], 4, /No build of llama\.cpp is kept under the name "nope"; there are: package/],
  ['library remove', ['nope'], 4, /No build of llama\.cpp is kept under the name "nope"/],
  ['completion', ['bsh'], 2, /Allowed choices are bash, zsh, fish/],
];
/** Their arguments are new names, or words to look for. */
const FREE = ['key add', 'search', 'embed', 'update'];

interface Verb {
  readonly name: string;
  readonly takesWords: boolean;
}

/** From the manual page, which lists them all. */
async function everyVerb(): Promise<Verb[]> {
  const { stdout } = await hearth(['man'], {});
  const lines = [...stdout.matchAll(/^\.SS "hearth ([a-z -]+) \[options\](.*)"$/gm)];
  return lines.map(([, name = '', rest = '']) => ({ name, takesWords: /[<[](?!command\])/.test(rest) }));
}

describe('a mistyped word', () => {
  it.each(ROWS)('behind hearth %s %j ends with %i', async (verb, rest, code, says) => {
    const outcome = await installation.run([...verb.split(' '), ...rest], settings());
    // The verdict of a verification is its result.
    const [said, result] =
      verb === 'evidence verify' ? [outcome.stdout, ''] : [outcome.stderr, outcome.stdout];
    expect([outcome.code, said, result]).toEqual([code, expect.stringMatching(says), '']);
    const { data } = (await served.client.get('/v1/models')).body as { data: { id: string; aliases?: [] }[] };
    expect(data.map(({ id, aliases }) => [id, aliases ?? []])).toEqual([
      ['hearth-embed', []],
      ['hearth-mini', []],
    ]);
  });

  it('is tried behind every verb that takes one', async () => {
    const verbs = (await everyVerb()).filter(({ takesWords }) => takesWords).map(({ name }) => name);
    expect(verbs).toContain('evidence verify');
    const tried = new Set([...ROWS.map(([verb]) => verb), ...FREE]);
    expect(verbs.filter((verb) => !tried.has(verb))).toEqual([]);
  });
});

/** Runs command lines one after another in one process, which takes a tenth of the time. */
async function together(lines: readonly (readonly string[])[]): Promise<{ code: number; stderr: string }[]> {
  const main = pathToFileURL(path.join(builtDist, 'cli', 'main.js')).href;
  const script = `
    import { main } from ${JSON.stringify(main)};
    const outcomes = [];
    const write = process.stdout.write.bind(process.stdout);
    for (const line of ${JSON.stringify(lines)}) {
      let stderr = '';
      process.exitCode = 0;
      process.stderr.write = (text) => { stderr += text; return true; };
      process.stdout.write = () => true;
      await main(line);
      outcomes.push({ code: process.exitCode, stderr });
    }
    process.exitCode = 0;
    write(JSON.stringify(outcomes));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: { PATH: process.env['PATH'], SVC_HOME: installation.home, SVC_PORT: served.port },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { code, stdout, stderr } = await finish(child);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

describe('of every verb', () => {
  it('a mistyped flag is refused', async () => {
    const lines = (await everyVerb()).map(({ name }) => [...name.split(' '), '--jsno']);
    expect(lines.length).toBeGreaterThan(50);
    const outcomes = await together([...lines, ['--jsno', 'list']]);
    for (const [at, { code, stderr }] of outcomes.entries()) {
      expect(code, String(lines[at])).toBe(2);
      expect(stderr).toContain("unknown option '--jsno'");
    }
  });

  it('a mistyped name is refused, with the verb that was meant where it is long enough to tell', async () => {
    const verbs = await everyVerb();
    const lines = verbs.map(({ name }) => {
      const words = name.split(' ');
      const [first = '', second = '', ...others] = words.at(-1) ?? '';
      return { name, line: [...words.slice(0, -1), [second, first, ...others].join('')] };
    });
    const outcomes = await together(lines.map(({ line }) => line));
    for (const [at, { code, stderr }] of outcomes.entries()) {
      const { name = '', line = [] } = lines[at] ?? {};
      expect([code, stderr], name).toEqual([
        2,
        expect.stringContaining(`there is no verb ${line.join(' ')}.`),
      ]);
      if ((line.at(-1) ?? '').length > 3) expect(stderr).toContain(`hearth ${name}`);
    }
  });
});
