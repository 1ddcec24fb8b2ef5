/** The address names a view, and in it a conversation or a proof, after the #, which the service never receives. */
import { signal } from '@preact/signals';

export const VIEWS = ['chat', 'engine', 'models', 'requests', 'proof'] as const;
export type ViewId = (typeof VIEWS)[number];

export interface Place {
  readonly view: ViewId;
  readonly id: string | null;
}

export const place = signal<Place>(read());

addEventListener('hashchange', () => {
  place.value = read();
});

export const addressOf = (view: ViewId, id: string | null = null): string =>
  id === null ? `#/${view}` : `#/${view}/${encodeURIComponent(id)}`;

/** Replaces the address without a step in the browser's history. */
export function rename(view: ViewId, id: string | null): void {
  const address = addressOf(view, id);
  if (location.hash !== address) history.replaceState(null, '', address);
  const now = place.peek();
  if (now.view !== view || now.id !== id) place.value = { view, id };
}

function read(): Place {
  const [, name, id] = /^#\/([a-z]+)(?:\/([^/]+))?$/.exec(location.hash) ?? [];
  const view = VIEWS.find((each) => each === name) ?? 'chat';
  return { view, id: id === undefined ? null : decode(id) };
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
