/** ui/app owns the frame around the views: navigation, the key, light and dark. It knows no view from inside. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Playground } from '../chat/playground.tsx';
import { ask, sentenceOf } from '../service/client.ts';
import { KeyGate } from './key-gate.tsx';
import { Standing } from './standing.tsx';
import { computed, signal } from '@preact/signals';

/** Views that are fetched when they are first looked at. */
const LATER: Readonly<Partial<Record<ViewId, () => Promise<ComponentType>>>> = {
  engine: async () => (await import('../engine/engine-room.tsx')).EngineRoom,
  requests: async () => (await import('../requests/requests-view.tsx')).RequestsView,
  models: async () => (await import('../models/models-view.tsx')).ModelsView,
  proof: async () => (await import('../proof/proof-view.tsx')).ProofView,
};

export function App() {
  const { label } = VIEWS.find(({ id }) => id === view.value) ?? VIEWS[0];
  useEffect(() => {
    document.title = `${label} · Hearth`;
  }, [label]);
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <Rail />
      <main id="main" tabIndex={-1} data-view={view.value}>
        {view.value === 'playground' ? <Playground /> : <Later id={view.value} />}
      </main>
      <KeyGate />
    </>
  );
}

/** The address names the view, so the link moves the focus by itself. */
function skip(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>('#main')?.focus();
}

function Rail() {
  return (
    <header class="rail">
      <p class="mark">
        hear<i>th</i>
      </p>
      <nav aria-label="Views">
        {VIEWS.map(({ id, label }) => (
          <a key={id} href={addressOf(id)} aria-current={view.value === id ? 'page' : undefined}>
            {label}
          </a>
        ))}
      </nav>
      <Standing />
    </header>
  );
}

function Later({ id }: { id: ViewId }) {
  const [loaded, setLoaded] = useState<{ id: ViewId; View: ComponentType } | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  useEffect(() => {
    let isWanted = true;
    setFault(null);
    LATER[id]?.().then(
      (View) => isWanted && setLoaded({ id, View }),
      () => void missingPart().then((sentence) => isWanted && setFault(sentence)),
    );
    return () => {
      isWanted = false;
    };
  }, [id]);
  if (fault === null) return loaded?.id === id ? <loaded.View /> : null;
  return (
    <div class="view">
      <div class="failure" role="alert">
        <p>{fault}</p>
        <button type="button" class="button small" onClick={() => location.reload()}>
          Reload the page
        </button>
      </div>
    </div>
  );
}

/** Why a part of the page cannot be fetched: a service that answers has been replaced by another version. */
const missingPart = (): Promise<string> =>
  ask('/health').then(
    () => 'This part of the page could not be loaded; Hearth may have been updated. Reload the page.',
    sentenceOf,
  );

const VIEWS = [
  { id: 'playground', label: 'Playground' },
  { id: 'engine', label: 'Engine room' },
  { id: 'models', label: 'Models' },
  { id: 'requests', label: 'Requests' },
  { id: 'proof', label: 'Proof' },
] as const;
type ViewId = (typeof VIEWS)[number]['id'];

const read = (): ViewId => {
  const [, name] = /^#\/([a-z]+)/.exec(location.hash) ?? [];
  return VIEWS.find(({ id }) => id === name)?.id ?? 'playground';
};

const here = signal<ViewId>(read());
addEventListener('hashchange', () => {
  here.value = read();
});

const view = computed(() => here.value);
const addressOf = (id: ViewId): string => `#/${id}`;
