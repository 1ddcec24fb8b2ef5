import { type Static, type TOptional, type TSchema, Type } from 'typebox';
import { isTemplateText } from '../../../packages/chat-templates/src/form/known-templates.ts';
import { isFormatText } from '../../../packages/chat-templates/src/tool-format/format-names.ts';
import { LOAD_SETTINGS, type LoadSettingRow } from './load-settings.ts';

type Table = typeof LOAD_SETTINGS;
export type LoadSettingName = keyof Table;
type WorkerSettingName = {
  [K in LoadSettingName]: Table[K]['by'] extends 'worker' ? K : never;
}[LoadSettingName];

export type ModelSettings = { readonly [K in LoadSettingName]?: Static<Table[K]['schema']> };

export const LOAD_SETTING_ROWS = Object.entries(LOAD_SETTINGS) as [LoadSettingName, LoadSettingRow][];

function shapes<Name extends LoadSettingName>(
  rows: readonly (readonly [string, LoadSettingRow])[],
): { [K in Name]: TOptional<Table[K]['schema']> } {
  const optional = rows.map(([name, { schema }]): [string, TSchema] => [name, Type.Optional(schema)]);
  return Object.fromEntries(optional) as { [K in Name]: TOptional<Table[K]['schema']> };
}

export const modelSettingShapes = shapes<LoadSettingName>(LOAD_SETTING_ROWS);

export const LoadSettings = Type.Object(
  shapes<WorkerSettingName>(LOAD_SETTING_ROWS.filter(([, { by }]) => by === 'worker')),
  { additionalProperties: false },
);
export type LoadSettings = Static<typeof LoadSettings>;

export function pickSettings(params: ModelSettings): ModelSettings {
  return pick(params, LOAD_SETTING_ROWS);
}

export function workerSettings(params: ModelSettings): LoadSettings {
  return pick(
    params,
    LOAD_SETTING_ROWS.filter(([, { by }]) => by === 'worker'),
  );
}

function pick(
  params: ModelSettings,
  rows: readonly (readonly [LoadSettingName, LoadSettingRow])[],
): ModelSettings {
  return Object.fromEntries(
    rows.flatMap(([name]) => (params[name] === undefined ? [] : [[name, params[name]]])),
  );
}

/** True if the value is a user's text and not a known name. */
export const holdsText = (settings: {
  readonly template?: string | null | undefined;
  readonly toolFormat?: string | null | undefined;
}): boolean => isTemplateText(settings.template ?? '') || isFormatText(settings.toolFormat ?? '');

/** Reports only the size of a user's text. */
export function byWireName(settings: ModelSettings): Record<string, unknown> {
  return Object.fromEntries(
    LOAD_SETTING_ROWS.flatMap(([name, { wire, isDocument }]) => {
      const value = settings[name];
      if (value === undefined) return [];
      return [[wire, isDocument === true ? shortText(String(value)) : value]];
    }),
  );
}

const LONGEST_SHOWN = 100;

export const shortText = (text: string): string =>
  text.length > LONGEST_SHOWN || text.includes('\n')
    ? `a text of ${Buffer.byteLength(text).toLocaleString('en-US')} bytes`
    : text;

export function inText(settings: ModelSettings): (readonly [wire: string, text: string])[] {
  return LOAD_SETTING_ROWS.flatMap(([name, row]) => {
    const value = settings[name];
    return value === undefined ? [] : [[row.wire, row.write(value as never)] as const];
  });
}

export interface SettingFault {
  readonly wire: string;
  readonly reason: string;
}

/** Ignores settings that frozen-v1's context overrides, see load-settings.ts. */
export function whyNotFrozen(settings: LoadSettings): string | null {
  const set: ModelSettings = settings;
  const found = LOAD_SETTING_ROWS.find(
    ([name, { frozen }]) => frozen === 'refused' && set[name] !== undefined,
  );
  return found === undefined ? null : `the model is set to another ${found[1].wire} than its file's`;
}
