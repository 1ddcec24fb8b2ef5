/**
 * Flags, environment, config file and defaults become one frozen Config. The only reader of process.env is the CLI's
 * entry, which passes it in. Throws invalid_request with the name of the setting that is wrong.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import envPaths from 'env-paths';
import { parse } from 'smol-toml';
import { fail, type SvcError } from '../lib/errors/svc-error.ts';
import { isLoopback, parseListenAddress } from './listen-address.ts';
import { type Setting, type SettingName, type SettingValues, settings } from './settings.ts';

export const CANONICAL_PORT = 8740;
export const DEV_PORT = 8741;

export type Origin = 'flag' | 'environment' | 'file' | 'default';

export interface Config extends Omit<SettingValues, 'home' | 'port'> {
  readonly home: string;
  readonly port: number;
  /** True for the isolated development endpoint. */
  readonly dev: boolean;
  readonly origins: Readonly<Record<SettingName, Origin>>;
}

export interface ConfigSources {
  readonly flags: Partial<Record<SettingName, string>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly dev: boolean;
}

/** Reads everything once; `config.toml` is looked for in the home folder only. */
export function loadConfig(sources: ConfigSources): Config {
  const home = homeFolder(sources);
  const file = readFile(path.join(home, 'config.toml'));
  const origins = {} as Record<SettingName, Origin>;
  const values: Record<string, unknown> = {};
  for (const name of Object.keys(settings) as SettingName[]) {
    const found = find(name, sources, file);
    origins[name] = found.origin;
    values[name] = found.value;
  }
  return Object.freeze(
    withAddress({ ...(values as unknown as SettingValues), home, dev: sources.dev, origins }),
  );
}

/** A non-loopback bind without a key would open the service to the network. */
export function requireKeyForBind(config: Config): void {
  if (isLoopback(config.host) || config.apiKey !== null) return;
  throw refused(
    'SVC_HOST',
    `SVC_HOST=${config.host} is reachable from other machines; set SVC_API_KEY, or bind 127.0.0.1.`,
  );
}

function withAddress(config: Omit<Config, 'port'> & { readonly port: number | null }): Config {
  const address = parseListenAddress(config.host);
  if (!address) throw refused('SVC_HOST', 'SVC_HOST must be host, :port, host:port or a URL.');
  const port = config.port ?? address.port ?? (config.dev ? DEV_PORT : CANONICAL_PORT);
  const isPortOfHost = config.port === null && address.port !== undefined;
  const origins = isPortOfHost ? { ...config.origins, port: config.origins.host } : config.origins;
  return { ...config, host: address.host, port, origins };
}

function homeFolder(sources: ConfigSources): string {
  const given = sources.flags.home ?? sources.env[settings.home.env]?.trim();
  const base =
    given !== undefined && given !== '' ? path.resolve(given) : envPaths('hearth', { suffix: '' }).data;
  // The development endpoint never touches the canonical store, whatever home is given.
  return sources.dev ? `${base}-dev` : base;
}

function readFile(file: string): Readonly<Record<string, unknown>> {
  if (!existsSync(file)) return {};
  let table: Record<string, unknown>;
  try {
    table = parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    const [reason] = (cause as Error).message.split('\n');
    throw refused(file, `${file} is not valid TOML: ${reason}`, cause);
  }
  const known = new Set(Object.values(settings).map((setting) => fileKey(setting)));
  if (fileKey(settings.home) in table) {
    throw refused(
      file,
      `${file} sets "home", but the file is read from that folder; use SVC_HOME or --home.`,
    );
  }
  for (const key of Object.keys(table)) {
    if (!known.has(key))
      throw refused(file, `${file} has an unknown setting "${key}"; hearth config lists them all.`);
  }
  return table;
}

/** SVC_KEEP_ALIVE → keep_alive. */
export function fileKey(setting: { readonly env: string }): string {
  return setting.env.slice('SVC_'.length).toLowerCase();
}

function find(
  name: SettingName,
  sources: ConfigSources,
  file: Readonly<Record<string, unknown>>,
): { value: unknown; origin: Origin } {
  const setting: Setting<unknown> = settings[name];
  const given: [Origin, string | undefined][] = [
    ['flag', sources.flags[name]],
    ['environment', sources.env[setting.env]],
    ['file', fileText(file[fileKey(setting)])],
  ];
  for (const [origin, text] of given) {
    // An empty variable means "not set", as shells and unit files write it.
    if (text === undefined || (origin === 'environment' && text.trim() === '')) continue;
    const value = setting.read(text);
    if (value === undefined)
      throw refused(setting.env, `${setting.env} (${origin}) must be ${setting.expects}.`);
    return { value, origin };
  }
  return { value: setting.fallback, origin: 'default' };
}

/** `param` is the setting, or the file that is wrong. */
function refused(param: string, message: string, cause?: unknown): SvcError {
  return fail('invalid_request', { param, message }, cause);
}

function fileText(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return Array.isArray(value) ? value.join(',') : String(value);
}
