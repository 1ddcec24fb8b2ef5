import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/support/temp-home.ts';
import { readRegistry, type RegistrySettings } from './registry.ts';

type Env = Readonly<Record<string, string>>;

async function read(npmrc: string | null, env: Env = {}): Promise<RegistrySettings> {
  const userHome = await temporaryFolder();
  if (npmrc !== null) await writeFile(join(userHome, '.npmrc'), npmrc);
  return readRegistry({ env, userHome });
}

describe('the npm registry', () => {
  it.each<[string, string | null, Env, string]>([
    ['npm’s own', null, {}, 'https://registry.npmjs.org'],
    ['that of .npmrc', 'registry = https://npm.example/repo/ \n', {}, 'https://npm.example/repo'],
    ['not that of a comment', '# registry=https://a.example\n;registry=b', {}, 'https://registry.npmjs.org'],
    [
      'the scope’s',
      'registry=https://a.example\n@node-llama-cpp:registry=https://b.example',
      {},
      'https://b.example',
    ],
    [
      'the environment’s',
      'registry=https://a.example',
      { NPM_CONFIG_REGISTRY: 'https://c.example' },
      'https://c.example',
    ],
    ['in lower case', null, { npm_config_registry: 'https://d.example/' }, 'https://d.example'],
  ])('is %s', async (_, npmrc, env, url) => {
    expect((await read(npmrc, env)).url).toBe(url);
  });

  it('is named when it is no URL', async () => {
    await expect(read('registry=nonsense')).rejects.toThrow("npm's registry is not a URL: nonsense");
  });

  it('gets the token that is kept for it, and no other', async () => {
    const npmrc = [
      'registry=https://npm.example/team/repo/',
      '//other.example/:_authToken=wrong',
      '//npm.example/team/:_authToken=${TOKEN}',
    ].join('\n');
    expect((await read(npmrc, { TOKEN: 'right' })).token).toBe('right');
    expect((await read('//other.example/:_authToken=wrong')).token).toBeNull();
  });
});

describe('the proxy', () => {
  it.each<[string, string | null, Env, string, string | null]>([
    ['none', null, {}, 'https://a.example', null],
    ['HTTPS_PROXY', null, { HTTPS_PROXY: 'http://p:3128' }, 'https://a.example', 'http://p:3128/'],
    ['none for plain http', null, { HTTPS_PROXY: 'http://p:3128' }, 'http://a.example', null],
    [
      'that of .npmrc',
      'https-proxy=http://q:1',
      { https_proxy: 'http://p:2' },
      'https://a.example',
      'http://q:1/',
    ],
    [
      'npm_config_https_proxy',
      null,
      { npm_config_https_proxy: 'http://r:1' },
      'https://a.example',
      'http://r:1/',
    ],
    [
      'none for a named host',
      null,
      { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'b.c, .example' },
      'https://a.example',
      null,
    ],
    [
      'not spared by a part of a name',
      null,
      { HTTPS_PROXY: 'http://p:1', no_proxy: 'ample' },
      'https://a.example',
      'http://p:1/',
    ],
    ['none at all', 'noproxy=*', { HTTPS_PROXY: 'http://p:1' }, 'https://a.example', null],
  ])('is %s', async (_, npmrc, env, url, expected) => {
    const { proxyFor } = await read(npmrc, env);
    expect(proxyFor(new URL(url))?.href ?? null).toBe(expected);
  });
});
