/** Configuration of a running service: settings marked live follow config.toml whenever it is read again. */
import type { Config } from './config.ts';
import { type SettingName, settings } from './settings.ts';

export interface LiveConfig {
  /** Live members change with `reload`, so readers must not copy them. */
  readonly config: Config;
  /** Throws what `read` throws; nothing has changed then. */
  reload(): Reloaded;
}

export interface Reloaded {
  readonly changed: readonly SettingName[];
  /** Settings that will differ after a restart. */
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
