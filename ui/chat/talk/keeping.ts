/** Failed writes to the browser's storage, so that the page can warn before anything is lost. */
import { computed, signal } from '@preact/signals';
import type { WhyNot } from '../../parts/stored.ts';

const unkept = signal<Readonly<Record<string, WhyNot>>>({});

export const whyUnkept = (what: string): WhyNot | null => unkept.value[what] ?? null;
export const areAllKept = (): boolean => Object.keys(unkept.peek()).length === 0;

export function noteKept(what: string, why: WhyNot | null): void {
  if ((unkept.peek()[what] ?? null) === why) return;
  const { [what]: _, ...others } = unkept.peek();
  unkept.value = why === null ? others : { ...others, [what]: why };
}

const CONVERSATION = 'conversation ';
export const noteKeptConversation = (id: string, why: WhyNot | null): void =>
  noteKept(CONVERSATION + id, why);
export const unkeptConversations = (): string[] =>
  Object.keys(unkept.peek())
    .filter((what) => what.startsWith(CONVERSATION))
    .map((what) => what.slice(CONVERSATION.length));

const FAULTS: Readonly<Record<WhyNot | 'nearly full', string>> = {
  full: "This browser's storage for the page is full: what you write now is lost when the tab is closed. Export your conversations, or remove some.",
  refused:
    'This browser does not let the page store anything: conversations are lost when the tab is closed. A private window does this; use an ordinary one, or export what you want to keep.',
  'nearly full':
    "This browser's storage for the page is nearly full. Export your conversations, then remove some, before anything is lost.",
};

const state = signal<'refused' | 'nearly full' | null>(null);
export const noteRefused = (): void => {
  state.value = 'refused';
};

export const storageFault = computed(() => {
  const failed = Object.entries(unkept.value).find(([what]) => what.startsWith(CONVERSATION));
  const why = failed?.[1] ?? state.value;
  return why === null ? null : FAULTS[why];
});

/** Share of the browser's quota from which the user is warned. */
const NEARLY_FULL = 0.95;

/** Browsers report their quota only roughly, or not at all. */
export async function noteRoom(): Promise<void> {
  const { usage = 0, quota = 0 } = (await navigator.storage?.estimate().catch(() => undefined)) ?? {};
  state.value = quota > 0 && usage > NEARLY_FULL * quota ? 'nearly full' : null;
}
