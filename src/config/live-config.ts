/** The configuration of a running service: settings marked live follow config.toml whenever it is read again. */
import type { Config } from './config.ts';
import { type SettingName, settings } from './settings.ts';

export interface LiveConfig {
  /** Live members change with `reload`, so readers must read them when needed. */
  readonly config: Config;
  /** Takes what `read` returns; throws what it throws, and then nothing has changed. */
  reload(): Reloaded;
}

export interface Reloaded {
  /** Settings that have another value from now on. */
  readonly changed: readonly SettingName[];
  /** Settings whose value will differ once the service is started again. */
  readonly afterRestart: readonly SettingName[];
}

const isLive = (name: SettingName): boolean => 'live' in settings[name];

export function followConfig(initial: Config, read: () => Config): LiveConfig {
  let current = initial;
  const config = { ...initial };
  for (const name of names.filter(isLive))
    Object.defineProperty(config, name, { get: () => current[name], enumerable: true });
  return {
    config: Object.freeze(config),
    reload: () => {
      const next = read();
      const differing = names.filter((name) => !isSame(config[name], next[name]));
      current = next;
      return {
        changed: differing.filter(isLive),
        afterRestart: differing.filter((name) => !isLive(name)),
      };
    },
  };
}

const names = Object.keys(settings) as SettingName[];

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
