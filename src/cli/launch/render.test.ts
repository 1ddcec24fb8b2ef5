import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/support/temp-home.ts';
import { renderLaunch, settingsText, shellLines } from './render.ts';
import { editors, tools } from './tools.ts';

const facts = {
  url: 'http://127.0.0.1:8740',
  key: 'a-secret',
  model: 'my-model',
  context: 32_768,
  vision: false,
  folder: '/h/launch',
  certificate: null,
};
const every = Object.entries(tools);

describe('the table of tools', () => {
  it.each(every)('gives %s the address, the key and the model, and leaves nothing unfilled', (_, tool) => {
    const { args, env, files } = renderLaunch(tool, facts, []);
    const text = [...args, ...Object.values(env), ...Object.values(files)].join('\n');
    expect(text).toContain(facts.url);
    expect(text).toContain(facts.model);
    expect(Object.values(env)).toContain(facts.key);
    expect(text).not.toMatch(/\{(url|key|model|context|vision|inputs|folder|certificate)\}/);
    // Other users of the machine can read the arguments of a process.
    expect([...args, ...Object.values(files)].join('\n')).not.toContain(facts.key);
  });
});

describe('the window', () => {
  it('is told to the programs that can be told, and only where it is known', () => {
    const textOf = (name: string, context: number | null): string => {
      const { args, env } = renderLaunch(tools[name]!, { ...facts, context }, []);
      return [...args, ...Object.values(env)].join(' ');
    };
    expect(textOf('codex', 32_768)).toContain('model_context_window=32768');
    const { OPENCODE_CONFIG_CONTENT: config = '' } = renderLaunch(tools['opencode']!, facts, []).env;
    expect(JSON.parse(config).provider.hearth.models['my-model'].limit.context).toBe(32_768);
    for (const name of Object.keys(tools)) expect(textOf(name, null)).not.toMatch(/context|null/);
  });
});

describe('images', () => {
  /** All of the JSON that a program or an editor gets. */
  const jsonOf = (name: string, vision: boolean): string => {
    const given = { ...facts, vision };
    const editor = editors[name];
    if (editor !== undefined) return settingsText(editor, given).text;
    const { env, files } = renderLaunch(tools[name]!, given, []);
    return Object.values(files)[0] ?? env['OPENCODE_CONFIG_CONTENT'] ?? '';
  };

  it.each(['opencode', 'pi', 'crush', 'zed', 'vscode'])(
    '%s is told whether the model reads them, and nothing else differs',
    (name) => {
      const [seeing, blind] = [jsonOf(name, true), jsonOf(name, false)];
      expect(seeing).not.toBe(blind);
      const shared = (json: string) =>
        json.replaceAll(/true|false/g, '?').replaceAll(/\["text"(?:,"image")?\]/g, '?');
      expect(shared(seeing)).toBe(shared(blind));
      expect(() => JSON.parse(seeing) as unknown).not.toThrow();
    },
  );

  it('are named in the form of each program', () => {
    expect(JSON.parse(jsonOf('vscode', true))).toMatchObject([{ models: [{ vision: true }] }]);
    expect(JSON.parse(jsonOf('vscode', false))).toMatchObject([{ models: [{ vision: false }] }]);
    expect(JSON.parse(jsonOf('pi', true)).providers.hearth.models).toMatchObject([
      { input: ['text', 'image'], contextWindow: 32_768 },
    ]);
    const { models } = JSON.parse(jsonOf('opencode', false)).provider.hearth;
    expect(models['my-model']).toMatchObject({ attachment: false, modalities: { input: ['text'] } });
  });
});

describe('a certificate that no authority has signed', () => {
  const certificate = '/h/my certificate.pem';

  it.each(every)('is told to %s, which gets nothing about it without one', (_, tool) => {
    const { env, args, files } = renderLaunch(tool, { ...facts, certificate }, []);
    expect(Object.values(env).filter((value) => value === certificate)).toHaveLength(1);
    const without = renderLaunch(tool, facts, []);
    expect({ args, files }).toEqual({ args: without.args, files: without.files });
    expect(Object.keys(without.env).join()).not.toMatch(/CERT/);
  });
});

describe('renderLaunch', () => {
  it('gives a program some key where the service has none, and the arguments of the user as they are', () => {
    const { args, env } = renderLaunch(tools['codex']!, { ...facts, key: null }, ['exec', '{key}']);
    expect(env).toEqual({ HEARTH_API_KEY: 'none' });
    expect(args.slice(-2)).toEqual(['exec', '{key}']);
  });

  it('fills a value once', () => {
    const { args } = renderLaunch(tools['aider']!, { ...facts, model: '{key}' }, []);
    expect(args).toEqual(['--model', 'openai/{key}']);
  });
});

describe.skipIf(process.platform === 'win32')('shellLines', () => {
  it.each(every)(
    'of %s mean to a shell what the process would get, without the key in them',
    async (_, tool) => {
      const more = ["it's", '$HOME', 'a b', ''];
      const folder = path.join(await temporaryFolder(), 'launch');
      const all = { ...facts, folder, certificate: "/it's/a.pem" };
      const lines = shellLines(tool, all, more);
      expect(lines.join('\n')).not.toContain(facts.key);
      const wanted = renderLaunch(tool, all, more);
      const names = Object.keys(wanted.env);
      const script = [
        `${tool.program}() { printf '%s\\0' ${names.map((name) => `"$${name}"`).join(' ')} "$@"; }`,
        ...lines,
      ].join('\n');
      const { stdout, stderr } = spawnSync('sh', ['-c', script], {
        encoding: 'utf8',
        env: { SVC_API_KEY: facts.key },
      });
      expect(stderr).toBe('');
      expect(stdout.split('\0').slice(0, -1)).toEqual([...Object.values(wanted.env), ...wanted.args]);
    },
  );
});
