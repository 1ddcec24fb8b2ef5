/** Settings under a name, kept in this browser and put to any conversation. */
import { signal } from '@preact/signals';
import { readStoredJson, store } from '../../parts/stored.ts';
import { readSettings } from './exported.ts';
import type { Settings } from './settings.ts';

export interface Preset {
  readonly name: string;
  readonly settings: Settings;
}

const NAME = 'hearth.presets';

/** By their names. */
export const presets = signal<readonly Preset[]>(read());
/** Why a preset could not be kept; null: it was. */
export const presetFault = signal<string | null>(null);

// Another tab may change them.
addEventListener('storage', ({ key }) => {
  if (key === NAME) presets.value = read();
});

/** One of the same name is replaced. */
export function savePreset(name: string, settings: Settings): void {
  const others = read().filter((each) => each.name !== name);
  write([...others, { name, settings }].toSorted((a, b) => a.name.localeCompare(b.name)));
}

export const removePreset = (name: string): void => write(read().filter((each) => each.name !== name));

function write(all: readonly Preset[]): void {
  presets.value = all;
  presetFault.value =
    store(NAME, JSON.stringify(all)) === null
      ? null
      : 'This browser did not store the preset; it is there until the tab is closed.';
}

function read(): Preset[] {
  const stored = readStoredJson(NAME);
  const all = Array.isArray(stored) ? (stored as ({ name?: unknown; settings?: unknown } | null)[]) : [];
  return all.flatMap((each) =>
    typeof each?.name === 'string' ? [{ name: each.name, settings: readSettings(each.settings) }] : [],
  );
}
