import { PRIVACIES } from '../../contract/settings/privacy.ts';
import { MODEL_ROWS } from '../../contract/sampling-shapes.ts';
import { LOAD_SETTING_ROWS } from '../../contract/settings/shapes.ts';
import { COMPACT, type ModelParams, MOST_SYSTEM_CHARS, NATIVE_WIDTH, TOKEN_IDS } from '../files/manifest.ts';

type ParamNames = Readonly<Record<string, keyof ModelParams>>;

/** Named alike in requests, the environment and other tools' stores. */
export const sharedParamNames: ParamNames = {
  num_ctx: 'numCtx',
  ...Object.fromEntries(MODEL_ROWS.map(([option, { wire }]) => [wire, option])),
  stop: 'stop',
};

export const paramNames: ParamNames = {
  ...sharedParamNames,
  max_tokens: 'maxTokens',
  keep_alive: 'keepAlive',
  system: 'system',
  compact: 'compact',
  dimensions: 'dimensions',
  token_ids: 'tokenIds',
  privacy: 'privacy',
  ...Object.fromEntries(LOAD_SETTING_ROWS.map(([name, { wire }]) => [wire, name])),
};

export const SYSTEM_EXPECTS = `a text of at most ${MOST_SYSTEM_CHARS.toLocaleString('en-US')} characters; \`hearth set\` also takes @FILE`;
export const COMPACT_EXPECTS = 'a share of the window from 1% to 99%, or tokens from 100';
export const DIMENSIONS_EXPECTS = `${NATIVE_WIDTH}, or a whole number from 1 to 65536`;

export function paramsByName(
  params: ModelParams,
): (readonly [asked: string, set: { readonly name: keyof ModelParams; readonly value: unknown }])[] {
  return Object.entries(paramNames).flatMap(([asked, name]) =>
    params[name] === undefined ? [] : [[asked, { name, value: params[name] }] as const],
  );
}

function readWord(words: readonly string[], text: string): { value: unknown } | { expects: string } {
  return words.includes(text) ? { value: text } : { expects: `one of ${words.join(', ')}` };
}

export function readParam(
  name: keyof ModelParams,
  text: string,
): { readonly value: unknown } | { readonly expects: string } {
  if (name === 'privacy') return readWord(PRIVACIES, text);
  if (name === 'tokenIds') return readWord(TOKEN_IDS, text);
  if (name === 'system')
    return text.length <= MOST_SYSTEM_CHARS ? { value: text } : { expects: SYSTEM_EXPECTS };
  if (name === 'compact') return COMPACT.test(text) ? { value: text } : { expects: COMPACT_EXPECTS };
  if (name === 'dimensions') {
    if (text === NATIVE_WIDTH) return { value: text };
    return /^[1-9]\d{0,4}$/.test(text) ? { value: Number(text) } : { expects: DIMENSIONS_EXPECTS };
  }
  const [, setting] = LOAD_SETTING_ROWS.find(([known]) => known === name) ?? [];
  if (setting === undefined) return { value: Number(text) };
  const value = setting.read(text);
  return value === undefined ? { expects: setting.expects } : { value };
}

/**
 * Sentences on when these changes take effect. `unload` is the command that unloads the model, null if it is not
 * loaded. A new thread count, a smaller window or none does not reload the model.
 */
export function whenItActs(
  id: string,
  patch: { readonly [Key in keyof ModelParams]?: unknown },
  unload: string | null,
): string {
  const advice = unload === null ? '' : `: ${unload}`;
  const names = Object.keys(patch) as (keyof ModelParams)[];
  const ofLoads = names.filter((name) => name === 'numCtx' || isLoadSetting(name));
  const isReason = ofLoads.some((name) => name !== 'numCtx' && name !== 'threads');
  return [
    ...(ofLoads.length < names.length ? ['Defaults of requests apply from the next request on.'] : []),
    ...(isReason
      ? [
          `Load settings take effect when ${id} is next loaded; if it is loaded with other settings now, the next request loads it again.`,
        ]
      : []),
    ...(!isReason && ofLoads.includes('numCtx')
      ? [
          patch.numCtx === null
            ? `The window that fits the memory comes with the next load${advice}.`
            : `A larger window comes with the next request, a smaller one with the next load${advice}.`,
        ]
      : []),
    ...(!isReason && ofLoads.includes('threads')
      ? [`Another count of threads comes with the next load${advice}.`]
      : []),
  ].join(' ');
}

export const isLoadSetting = (name: string): boolean => LOAD_SETTING_ROWS.some(([known]) => known === name);
