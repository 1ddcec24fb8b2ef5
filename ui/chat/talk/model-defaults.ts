/** Stores a conversation's settings as its model's defaults, like `hearth set`: they apply to every client. */
import { signal } from '@preact/signals';
import type { Changed } from '../../../src/wire/operation/library.ts';
import { sentenceOf } from '../../service/client.ts';
import { askAsPage } from '../../service/page-token.ts';
import { activeSettings, type Settings } from './settings.ts';

export const defaultsSaid = signal<{ readonly note: string } | { readonly fault: string } | null>(null);

/** Keyed by the names of `hearth set`; tools and answer format belong to a conversation. */
export const modelDefaults = ({ system, numbers, stop }: Settings): Record<string, string> =>
  Object.fromEntries(
    Object.entries({ system: system.trim() === '' ? '' : system, ...numbers, stop: escaped(stop) }).filter(
      ([, text]) => text !== '',
    ),
  );

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
