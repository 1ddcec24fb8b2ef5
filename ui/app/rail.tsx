import {
  ArrowLeftRight,
  Box,
  ChartNoAxesColumn,
  Flame,
  Menu,
  MessagesSquare,
  Plus,
  Search,
  ShieldCheck,
  X,
} from 'lucide';
import { signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { ConversationList } from '../chat/rail/conversation-list.tsx';
import { isSearchOpen } from '../chat/rail/search-dialog.tsx';
import { Transfer } from '../chat/rail/transfer.tsx';
import { begin } from '../chat/talk/conversations.ts';
import { addressOf, place, type ViewId } from '../parts/address.ts';
import { useEscape } from '../parts/escape.ts';
import { Icon, IconButton } from '../parts/icon.tsx';
import { Standing } from './standing.tsx';

export const VIEW_NAMES: Readonly<Record<ViewId, string>> = {
  chat: 'Chat',
  engine: 'Engine room',
  models: 'Models',
  requests: 'Requests',
  proof: 'Proofs',
};

const ICONS = {
  chat: MessagesSquare,
  engine: ChartNoAxesColumn,
  models: Box,
  requests: ArrowLeftRight,
  proof: ShieldCheck,
} as const;

const isRailOpen = signal(false);

export function beginAnywhere(): void {
  begin();
  isRailOpen.value = false;
  if (place.value.view !== 'chat') location.hash = addressOf('chat');
}

export function Rail() {
  const close = () => {
    isRailOpen.value = false;
  };
  // Before the next frame: closing later would close what the user opens meanwhile.
  useLayoutEffect(close, [place.value]);
  useEscape(isRailOpen.value, close);
  return (
    <header class={isRailOpen.value ? 'rail open' : 'rail'}>
      <div class="brand">
        <Icon of={Flame} />
        <p class="mark">Hearth</p>
        <IconButton icon={X} name="Close the menu" class="phone-only" onClick={close} />
      </div>
      <button type="button" class="begin" onClick={beginAnywhere}>
        <Icon of={Plus} />
        New conversation
      </button>
      <button type="button" class="quiet find-opener" onClick={() => (isSearchOpen.value = true)}>
        <Icon of={Search} />
        Search
        <kbd>Ctrl K</kbd>
      </button>
      <ConversationList />
      <Transfer />
      <nav class="places" aria-label="Views">
        {(Object.keys(VIEW_NAMES) as ViewId[]).map((id) => (
          <a key={id} href={addressOf(id)} aria-current={place.value.view === id ? 'page' : undefined}>
            <Icon of={ICONS[id]} />
            {VIEW_NAMES[id]}
          </a>
        ))}
      </nav>
      <Standing />
    </header>
  );
}

export function TopBar() {
  return (
    <div class="top-bar">
      <IconButton
        icon={Menu}
        name="Menu"
        isOpen={isRailOpen.value}
        onClick={() => (isRailOpen.value = true)}
      />
      <p>{VIEW_NAMES[place.value.view]}</p>
      <IconButton icon={Plus} name="New conversation" onClick={beginAnywhere} />
    </div>
  );
}
