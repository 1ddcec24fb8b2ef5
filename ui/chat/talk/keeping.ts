/** Failed writes to the storage of the browser, so that the page can warn before anything is lost. */
import { computed, signal } from '@preact/signals';
import type { WhyNot } from '../../parts/stored.ts';

const unkept = signal<Readonly<Record<string, WhyNot>>>({});

export const whyUnkept = (what: string): WhyNot | null => unkept.value[what] ?? null;
/** Whether all that was written in this tab outlives it. */
export const areAllKept = (): boolean => Object.keys(unkept.peek()).length === 0;

/** Null: it is stored, or gone. */
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

/** The storage as a whole. */
const state = signal<'refused' | 'nearly full' | null>(null);
export const noteRefused = (): void => {
  state.value = 'refused';
};

/** The reason why conversations are not kept, or soon may not be; null: they are. */
export const storageFault = computed(() => {
  const failed = Object.entries(unkept.value).find(([what]) => what.startsWith(CONVERSATION));
  const why = failed?.[1] ?? state.value;
  return why === null ? null : FAULTS[why];
});

/** Of what the browser allows the page; from there on the user is told. */
const NEARLY_FULL = 0.95;

/** Browsers tell only roughly how much they allow; some do not tell. */
export async function noteRoom(): Promise<void> {
  const { usage = 0, quota = 0 } = (await navigator.storage?.estimate().catch(() => undefined)) ?? {};
  state.value = quota > 0 && usage > NEARLY_FULL * quota ? 'nearly full' : null;
}
