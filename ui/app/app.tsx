/** ui/app owns the frame around the views: the rail, the key, light and dark. It knows no view from inside. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Chat } from '../chat/chat.tsx';
import { isSearchOpen, SearchDialog } from '../chat/rail/search-dialog.tsx';
import { current } from '../chat/talk/conversations.ts';
import { place, type ViewId } from '../parts/address.ts';
import { ask, sentenceOf } from '../service/client.ts';
import { useRecovery } from '../service/use-recovery.ts';
import { KeyGate } from './key-gate.tsx';
import { Rail, TopBar, VIEW_NAMES } from './rail.tsx';
import { isHelpOpen } from '../chat/at-hand.ts';
import { ShortcutHelp, useShortcuts } from './shortcuts.tsx';

const LATER: Readonly<Partial<Record<ViewId, () => Promise<ComponentType>>>> = {
  engine: async () => (await import('../engine/engine-room.tsx')).EngineRoom,
  requests: async () => (await import('../requests/requests-view.tsx')).RequestsView,
  models: async () => (await import('../models/models-view.tsx')).ModelsView,
  proof: async () => (await import('../proof/proof-view.tsx')).ProofView,
};

export function App() {
  const { view } = place.value;
  const { title } = current.value;
  useShortcuts();
  useEffect(() => {
    document.title = `${view === 'chat' && title !== '' ? title : VIEW_NAMES[view]} · Hearth`;
  }, [view, title]);
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <Rail />
      <TopBar />
      <main id="main" tabIndex={-1} data-view={view}>
        {view === 'chat' ? <Chat /> : <Later id={view} />}
      </main>
      {isSearchOpen.value ? <SearchDialog /> : null}
      {isHelpOpen.value ? <ShortcutHelp /> : null}
      <KeyGate />
    </>
  );
}

/** The address names the view, so the link moves the focus itself. */
function skip(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>('#main')?.focus();
}

function Later({ id }: { id: ViewId }) {
  const [loaded, setLoaded] = useState<{ id: ViewId; View: ComponentType } | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  useRecovery(() => {
    let isWanted = true;
    setFault(null);
    LATER[id]?.().then(
      (View) => isWanted && setLoaded({ id, View }),
      () => void missingPart().then((sentence) => isWanted && setFault(sentence)),
    );
    return () => {
      isWanted = false;
    };
  }, id);
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

/** A service that answers without this file has been replaced by another version. */
const missingPart = (): Promise<string> =>
  ask('/health').then(
    () => 'This part of the page could not be loaded; Hearth may have been updated. Reload the page.',
    sentenceOf,
  );
