import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/support/temp-home.ts';
import { isTool, knownTools } from './known.ts';
import { renderLaunch, settingsText } from './render.ts';
import { editors, tools } from './tools.ts';

const own = {
  title: 'Mine',
  program: 'mine',
  install: 'none',
  env: { KEY: '{key}' },
  args: ['{url}', '{folder}'],
};
const editor = {
  title: 'Ed',
  settings: '~/.ed',
  text: '{"a":"{url}","m":"{model}","n":{context},"k":"{key}"}',
  note: '{url}',
};
const facts = {
  url: 'http://127.0.0.1:1',
  key: 'a-secret',
  model: 'm',
  context: 4_096,
  vision: false,
  folder: '/f',
  certificate: null,
};

async function known(text: string | null) {
  const home = await temporaryFolder();
  if (text !== null) await writeFile(path.join(home, 'launch.json'), text);
  return knownTools(home);
}

describe('the tools that can be launched', () => {
  it('are those of the table where the user has said nothing', async () => {
    expect(await known(null)).toEqual({ ...tools, ...editors });
  });

  it('are also those of the user, which replace others of their name', async () => {
    const all = await known(JSON.stringify({ codex: own, 'my-editor': editor }));
    expect(Object.keys(all)).toHaveLength(Object.keys(tools).length + Object.keys(editors).length + 1);
    const mine = all['codex'];
    if (mine === undefined || !isTool(mine)) throw new Error('it is no tool');
    expect(renderLaunch(mine, facts, [])).toMatchObject({
      args: [facts.url, '/f'],
      env: { KEY: 'a-secret' },
    });
  });

  it.each([
    ['no JSON', '{', 'it is not JSON'],
    ['no object', '[]', 'it is not an object'],
    ['a bad name', JSON.stringify({ 'A B': own }), '"A B" is no name of a tool'],
    ['a missing member', JSON.stringify({ mine: { ...own, program: undefined } }), 'mine'],
    ['a member that it has not', JSON.stringify({ mine: { ...own, envs: {} } }), 'mine'],
    ['a wrong member', JSON.stringify({ mine: { ...own, args: 'x' } }), 'mine/args'],
    ['a file that leaves the folder', JSON.stringify({ mine: { ...own, files: { '../x': '' } } }), 'mine'],
    ['an editor with something missing', JSON.stringify({ ed: { ...editor, text: 1 } }), 'ed/text'],
  ])('are refused in a file with %s, by what is wrong', async (_, text, words) => {
    await expect(known(text)).rejects.toMatchObject({
      code: 'setting_file_unusable',
      message: expect.stringContaining(words),
    });
  });
});

describe('the settings of an editor', () => {
  it.each(Object.entries({ ...editors, mine: editor }))(
    '%s are JSON with all that it needs, but the key',
    (_, each) => {
      const { text, note } = settingsText(each, facts);
      expect(JSON.stringify(JSON.parse(text))).toContain('4096');
      expect(text).toContain(facts.url);
      expect(text + note).not.toMatch(/a-secret|\{(url|key|model|context|folder)\}/);
    },
  );
});
