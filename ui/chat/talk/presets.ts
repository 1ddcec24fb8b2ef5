/** Settings under a name, kept in this browser and put to any conversation. */
import { signal } from '@preact/signals';
import { readStoredJson, store } from '../../parts/stored.ts';
import { readPresets } from './exported.ts';
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

/** Adds those of a file, and returns how many are new; one whose name has other settings here gets another name. */
export function addPresets(imported: readonly Preset[]): number {
  const isHere = ({ settings }: Preset): boolean =>
    presets.value.some((each) => JSON.stringify(each.settings) === JSON.stringify(settings));
  const fresh = imported.filter((each) => !isHere(each));
  for (const { name, settings } of fresh) {
    const isTaken = presets.value.some((each) => each.name === name);
    savePreset(isTaken ? `${name} (imported)` : name, settings);
  }
  return fresh.length;
}

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
  return readPresets(readStoredJson(NAME));
}
