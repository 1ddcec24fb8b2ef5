/**
 * Merges flags, environment, config file and defaults into one frozen Config. Only the CLI's entry reads process.env,
 * and passes it in. Throws invalid_request with the name of the wrong setting.
 */
import path from 'node:path';
import envPaths from 'env-paths';
import { didYouMean, nearest } from '../lib/base/nearest.ts';
import { fail, type SvcError } from '../lib/errors/svc-error.ts';
import { type ConfigFile, fileKey, readConfigFile } from './config-file.ts';
import { isLoopback, parseListenAddress } from './listen-address.ts';
import { type Setting, type SettingName, type SettingValues, settings } from './settings.ts';

export const CANONICAL_PORT = 8740;
export const DEV_PORT = 8741;

export type Origin = 'flag' | 'environment' | 'file' | 'default';

export interface Config extends Omit<SettingValues, 'home' | 'port'> {
  readonly home: string;
  readonly port: number;
  readonly dev: boolean;
  readonly origins: Readonly<Record<SettingName, Origin>>;
}

export interface ConfigSources {
  readonly flags: Partial<Record<SettingName, string>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly dev: boolean;
}

export interface ExaminedConfig {
  readonly config: Config;
  readonly file: ConfigFile;
  readonly problems: readonly Problem[];
}

export interface Problem {
  readonly param: string;
  readonly message: string;
}

/** `config.toml` is read from the home folder only. */
export function loadConfig(sources: ConfigSources): Config {
  const { config, problems } = examineConfig(sources);
  const [first] = problems;
  const message = problems.map((problem) => problem.message).join(' ');
  if (first !== undefined) throw refused({ ...first, message });
  return config;
}

export function examineConfig(sources: ConfigSources): ExaminedConfig {
  const home = homeFolder(sources);
  const file = readConfigFile(home);
  const problems: Problem[] = file.problems.map((message) => ({ param: file.path, message }));
  const origins = {} as Record<SettingName, Origin>;
  const values: Record<string, unknown> = {};
  for (const name of Object.keys(settings) as SettingName[]) {
    const found = find(name, sources, file);
    if ('problem' in found) problems.push(found.problem);
    origins[name] = found.origin;
    values[name] = found.value;
  }
  const read = { ...(values as unknown as SettingValues), home, dev: sources.dev, origins };
  return { config: Object.freeze(withAddress(read, problems)), file, problems };
}

/** One sentence per variable that only resembles a setting; shells and unit files hide such typos. */
export function unknownVariables(env: ConfigSources['env']): string[] {
  const names = Object.values(settings).map((each) => each.env);
  const known = new Set<string>([...names, ...OTHER_VARIABLES]);
  return Object.keys(env)
    .filter((name) => name.startsWith('SVC_') && !known.has(name))
    .map((name) => `The environment variable ${name} is not a setting.${didYouMean(nearest(name, names))}`);
}

/** Set by a process for its worker, and a switch of the tests; not for operators. */
const OTHER_VARIABLES = ['SVC_PARENT_PID', 'SVC_LIBRARIES', 'SVC_LONG_TESTS'];

/**
 * A non-loopback bind without a key would open the service to the network. A named key is as good as the service's
 * own.
 */
export function requireKeyForBind(config: Config, hasNamedKeys: boolean): void {
  if (isLoopback(config.host) || config.apiKey !== null || hasNamedKeys) return;
  throw refused({
    param: 'SVC_HOST',
    message: `SVC_HOST=${config.host} is reachable from other machines; make a key with hearth key add NAME, or set SVC_API_KEY, or bind 127.0.0.1.`,
  });
}

function withAddress(
  config: Omit<Config, 'port'> & { readonly port: number | null },
  problems: Problem[],
): Config {
  const address = parseListenAddress(config.host);
  if (!address) {
    problems.push({ param: 'SVC_HOST', message: 'SVC_HOST must be host, :port, host:port or a URL.' });
    return withAddress({ ...config, host: settings.host.fallback }, problems);
  }
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

type Found = { readonly value: unknown; readonly origin: Origin } | Unusable;
interface Unusable {
  readonly value: unknown;
  readonly origin: Origin;
  readonly problem: Problem;
}

function find(name: SettingName, sources: ConfigSources, file: ConfigFile): Found {
  const setting: Setting<unknown> = settings[name];
  const inFile = file.entries.get(fileKey(setting));
  const given: [Origin, string | undefined, string][] = [
    ['flag', sources.flags[name], settingFlag(name)],
    ['environment', sources.env[setting.env], `${setting.env} (environment)`],
    ['file', inFile?.text, `${inFile?.where}: ${fileKey(setting)}`],
  ];
  for (const [origin, text, subject] of given) {
    // An empty variable counts as unset, as shells and unit files write it.
    if (text === undefined || (origin === 'environment' && text.trim() === '')) continue;
    const value = setting.read(text);
    if (value !== undefined) return { value, origin };
    const problem = { param: setting.env, message: `${subject} must be ${setting.expects}.` };
    return { value: setting.fallback, origin: 'default', problem };
  }
  return { value: setting.fallback, origin: 'default' };
}

const settingFlag = (name: SettingName): string =>
  `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

function refused({ param, message }: Problem): SvcError {
  return fail('invalid_request', { param, message });
}
