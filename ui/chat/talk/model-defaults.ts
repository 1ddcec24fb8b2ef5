/** Stores a conversation's settings as its model's defaults, like `hearth set`: they apply to every client. */
import { signal } from '@preact/signals';
import type { Changed } from '../../../src/wire/operation/library.ts';
import { sentenceOf } from '../../service/client.ts';
import { askAsPage } from '../../service/page-token.ts';
import type { Conversation } from './conversation.ts';
import { activeSettings, type Settings } from './settings.ts';

type Said = { readonly note: string } | { readonly fault: string } | null;

/** By the conversation that has the settings, and the model. */
const said = signal<Readonly<Record<string, Said>>>({});
export const defaultsSaid = (conversation: string, model: string): Said =>
  said.value[`${conversation} ${model}`] ?? null;

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

export async function makeDefaults({ id, settings }: Conversation, model: string): Promise<void> {
  const say = (now: Said): void => {
    said.value = { ...said.value, [`${id} ${model}`]: now };
  };
  say(null);
  try {
    const body = { model, settings: modelDefaults(settings) };
    const { note = '' } = (await (await askAsPage('/svc/models/settings', { body })).json()) as Changed;
    say({ note: `${model} begins with these from now on. ${note}`.trim() });
  } catch (error) {
    say({ fault: sentenceOf(error) });
  }
}
