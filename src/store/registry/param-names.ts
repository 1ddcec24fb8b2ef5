/** What people call the defaults of a model. */
import { PRIVACIES } from '../../contract/settings/privacy.ts';
import { MODEL_ROWS } from '../../contract/sampling-shapes.ts';
import { LOAD_SETTING_ROWS } from '../../contract/settings/shapes.ts';
import type { ModelParams } from '../files/manifest.ts';

type ParamNames = Readonly<Record<string, keyof ModelParams>>;

/** Parameters by the names that requests, the environment and other tools' stores spell alike. */
export const sharedParamNames: ParamNames = {
  num_ctx: 'numCtx',
  ...Object.fromEntries(MODEL_ROWS.map(([option, { wire }]) => [wire, option])),
  stop: 'stop',
};

/** All of them, as `hearth set` takes them. */
export const paramNames: ParamNames = {
  ...sharedParamNames,
  max_tokens: 'maxTokens',
  keep_alive: 'keepAlive',
  privacy: 'privacy',
  ...Object.fromEntries(LOAD_SETTING_ROWS.map(([name, { wire }]) => [wire, name])),
};

/** What `text` says of a parameter; `expects` where it is not usable. */
export function readParam(
  name: keyof ModelParams,
  text: string,
): { readonly value: unknown } | { readonly expects: string } {
  if (name === 'privacy') {
    const value = PRIVACIES.find((privacy) => privacy === text);
    return value === undefined ? { expects: `one of ${PRIVACIES.join(', ')}` } : { value };
  }
  const [, setting] = LOAD_SETTING_ROWS.find(([known]) => known === name) ?? [];
  if (setting === undefined) return { value: Number(text) };
  const value = setting.read(text);
  return value === undefined ? { expects: setting.expects } : { value };
}

/** Whether loads take it, and not requests. */
export function isLoadSetting(name: string): boolean {
  return LOAD_SETTING_ROWS.some(([known]) => known === name);
}
