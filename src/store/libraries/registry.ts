/** The npm registry and proxy, read from the environment and the user's .npmrc like npm does. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fail } from '../../lib/errors/svc-error.ts';
import { envPath } from '../../lib/files/env-path.ts';
import { errnoCode } from '../../lib/files/durable.ts';
import { SCOPE } from './packages.ts';

export interface RegistrySources {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly userHome: string;
}

export interface RegistrySettings {
  readonly url: string;
  readonly token: string | null;
  readonly proxyFor: (url: URL) => URL | null;
}

const DEFAULT_REGISTRY = 'https://registry.npmjs.org';

type Lookup = (name: string) => string | undefined;

/** The environment precedes the file, and the registry of the scope precedes the general one. */
export async function readRegistry(sources: RegistrySources): Promise<RegistrySettings> {
  const stored = await readNpmrc(sources);
  const fromEnv = npmEnvironment(sources.env);
  const setting: Lookup = (name) => fromEnv.get(name) ?? stored.get(name);
  const text = setting(`${SCOPE}:registry`) ?? setting('registry') ?? DEFAULT_REGISTRY;
  const url = parsed(text, 'registry').href.replace(/\/+$/, '');
  return { url, token: findToken(url, setting), proxyFor: proxyRule(sources.env, setting) };
}

/** Reads `npm_config_registry` in either case; npm takes `_` for `-`. */
function npmEnvironment(env: RegistrySources['env']): Map<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of Object.entries(env)) {
    const [, key] = /^npm_config_(.+)$/i.exec(name) ?? [];
    if (key === undefined || value === undefined || value.trim() === '') continue;
    found.set(
      key.startsWith('@') || key.startsWith('//') ? key : key.toLowerCase().replaceAll('_', '-'),
      value,
    );
  }
  return found;
}

async function readNpmrc({ env, userHome }: RegistrySources): Promise<Map<string, string>> {
  const named = env['npm_config_userconfig'] ?? env['NPM_CONFIG_USERCONFIG'];
  const path = envPath(named, userHome) ?? join(userHome, '.npmrc');
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    // The file is absent, or not readable by this user.
    if (errnoCode(error) !== undefined) return '';
    throw error;
  });
  return parseNpmrc(text, env);
}

function parseNpmrc(text: string, env: RegistrySources['env']): Map<string, string> {
  const settings = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, key, value] = /^\s*([^#;\s][^=]*?)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (key === undefined || value === undefined || value === '') continue;
    const bare = value.replace(/^(["'])(.*)\1$/, '$2');
    settings.set(
      key,
      bare.replaceAll(/\$\{(\w+)\}/g, (whole, name: string) => env[name] ?? whole),
    );
  }
  return settings;
}

/** npm stores a token under the address of its registry without the protocol, or under a part of its path. */
function findToken(url: string, setting: Lookup): string | null {
  const address = url.replace(/^https?:/, '');
  for (let at = address; at.length > 2; at = at.slice(0, at.lastIndexOf('/'))) {
    const token = setting(`${at}/:_authToken`);
    if (token !== undefined) return token;
  }
  return null;
}

function proxyRule(env: RegistrySources['env'], setting: Lookup): RegistrySettings['proxyFor'] {
  const either = (name: string): string | undefined => env[name.toLowerCase()] ?? env[name.toUpperCase()];
  const secure = setting('https-proxy') ?? setting('proxy') ?? either('https_proxy');
  const plain = setting('proxy') ?? either('http_proxy');
  const direct = (setting('noproxy') ?? either('no_proxy') ?? '').split(',').map((host) => host.trim());
  return (url) => {
    const proxy = url.protocol === 'https:' ? secure : plain;
    if (proxy === undefined || proxy === '' || proxy === 'null') return null;
    return direct.some((rule) => covers(rule, url)) ? null : parsed(proxy, 'proxy');
  };
}

/** A rule is `*`, a host with or without a port, or a domain with all its subdomains. */
function covers(rule: string, { hostname, host }: URL): boolean {
  if (rule === '') return false;
  const domain = rule.replace(/^\*?\./, '').toLowerCase();
  return rule === '*' || host === domain || hostname === domain || hostname.endsWith(`.${domain}`);
}

function parsed(text: string, name: string): URL {
  try {
    return new URL(text);
  } catch (error) {
    throw fail(
      'invalid_request',
      {
        param: name,
        message: `npm's ${name} is not a URL: ${text.slice(0, 200)}; correct it in .npmrc or the environment.`,
      },
      error,
    );
  }
}
