import { signal } from '@preact/signals';
import { readStored, store } from '../parts/stored.ts';

const NAME = 'hearth.theme';
export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const stored = readStored(NAME);
export const theme = signal<Theme>(THEMES.find((each) => each === stored) ?? 'system');

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  store(NAME, chosen);
  applyTheme();
}

export function applyTheme(): void {
  const { dataset } = document.documentElement;
  if (theme.value === 'system') delete dataset['theme'];
  else dataset['theme'] = theme.value;
}
