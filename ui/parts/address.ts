/** What the address names: a view, and in it a conversation or a proof; behind the #, where the service never sees it. */
import { signal } from '@preact/signals';

export const VIEWS = ['chat', 'engine', 'models', 'requests', 'proof'] as const;
export type ViewId = (typeof VIEWS)[number];

export interface Place {
  readonly view: ViewId;
  /** A conversation, or the answer whose proof is shown; null: none is named. */
  readonly id: string | null;
}

export const place = signal<Place>(read());

addEventListener('hashchange', () => {
  place.value = read();
});

export const addressOf = (view: ViewId, id: string | null = null): string =>
  id === null ? `#/${view}` : `#/${view}/${encodeURIComponent(id)}`;

/** Names another place without a step in the history of the browser. */
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
