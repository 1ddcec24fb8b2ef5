import { signal } from '@preact/signals';
import { readStoredJson, store } from '../../parts/stored.ts';
import { readPresets } from './exported.ts';
import type { Settings } from './settings.ts';

export interface Preset {
  readonly name: string;
  readonly settings: Settings;
}

const NAME = 'hearth.presets';

export const presets = signal<readonly Preset[]>(read());
export const presetFault = signal<string | null>(null);

addEventListener('storage', ({ key }) => {
  if (key === NAME) presets.value = read();
});

/** Returns the number of new ones. A name that has other settings here is changed. */
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
