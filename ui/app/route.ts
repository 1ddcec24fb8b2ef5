/** ui/app owns the frame around the views: navigation, the key, light and dark. It knows no view from inside. */
import { computed, signal } from '@preact/signals';

export const VIEWS = [
  { id: 'playground', label: 'Playground' },
  { id: 'engine', label: 'Engine room' },
  { id: 'models', label: 'Models' },
  { id: 'requests', label: 'Requests' },
  { id: 'proof', label: 'Proof' },
] as const;
export type ViewId = (typeof VIEWS)[number]['id'];

const read = (): ViewId => {
  const [, name] = /^#\/([a-z]+)/.exec(location.hash) ?? [];
  return VIEWS.find(({ id }) => id === name)?.id ?? 'playground';
};

const here = signal<ViewId>(read());
addEventListener('hashchange', () => {
  here.value = read();
});

export const view = computed(() => here.value);
export const addressOf = (id: ViewId): string => `#/${id}`;
