/** Settings of a conversation as the defaults of its model, as `hearth set` keeps them: they hold for every client. */
import { signal } from '@preact/signals';
import type { Changed } from '../../../src/wire/operation/library.ts';
import { sentenceOf } from '../../service/client.ts';
import { askAsPage } from '../../service/page-token.ts';
import { activeSettings, type Settings } from './settings.ts';

/** Outcome of the last change. */
export const defaultsSaid = signal<{ readonly note: string } | { readonly fault: string } | null>(null);

/** By the names of `hearth set`; tools and the form of the answer belong to a conversation. */
export const modelDefaults = ({ system, numbers, stop }: Settings): Record<string, string> =>
  Object.fromEntries(
    Object.entries({ system: system.trim() === '' ? '' : system, ...numbers, stop: escaped(stop) }).filter(
      ([, text]) => text !== '',
    ),
  );

/** A line is one stop text, in which a backslash is a backslash. */
const escaped = (stop: string): string => (stop.trim() === '' ? '' : stop.replaceAll('\\', '\\\\'));

export const canBeDefaults = (settings: Settings): boolean =>
  activeSettings(settings).length > 0 && Object.keys(modelDefaults(settings)).length > 0;

export async function makeDefaults(model: string, settings: Settings): Promise<void> {
  defaultsSaid.value = null;
  try {
    const body = { model, settings: modelDefaults(settings) };
    const { note = '' } = (await (await askAsPage('/svc/models/settings', { body })).json()) as Changed;
    defaultsSaid.value = { note: `${model} begins with these from now on. ${note}`.trim() };
  } catch (error) {
    defaultsSaid.value = { fault: sentenceOf(error) };
  }
}
