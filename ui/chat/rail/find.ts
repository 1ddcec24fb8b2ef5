import type { Conversation } from '../talk/conversation.ts';

export interface Hit {
  readonly id: string;
  readonly title: string;
  readonly changedAt: number;
  readonly excerpt: readonly [string, string, string];
}

/** Further hits are not listed; a user finds them by adding words. */
export const MOST_HITS = 40;
const AROUND = 60;

/** A title with its folder, or one entry, must contain every word. Titles come before texts. */
export function found(conversations: readonly Conversation[], wanted: string): Hit[] {
  const words = wanted
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) return conversations.slice(0, MOST_HITS).map((each) => hitOf(each, '', 0, 0));
  const titled: Hit[] = [];
  const said: Hit[] = [];
  for (const each of conversations) {
    if (titled.length >= MOST_HITS) break;
    const inTitle = `${each.title} ${each.folder ?? ''}`.toLowerCase();
    const isTitled = words.every((word) => inTitle.includes(word));
    if (!isTitled && said.length >= MOST_HITS) continue;
    const text = textWith(each, words);
    if (isTitled) titled.push(text === null ? hitOf(each, '', 0, 0) : excerptOf(each, text, words[0] ?? ''));
    else if (text !== null) said.push(excerptOf(each, text, words[0] ?? ''));
  }
  return [...titled, ...said].slice(0, MOST_HITS);
}

function textWith({ entries }: Conversation, words: readonly string[]): string | null {
  const entry = entries.find(({ text }) => {
    const lower = text.toLowerCase();
    return words.every((word) => lower.includes(word));
  });
  return entry?.text ?? null;
}

function excerptOf(conversation: Conversation, text: string, word: string): Hit {
  return hitOf(conversation, text, text.toLowerCase().indexOf(word), word.length);
}

function hitOf({ id, title, changedAt }: Conversation, text: string, at: number, length: number): Hit {
  const from = Math.max(0, at - AROUND);
  return {
    id,
    title,
    changedAt,
    excerpt: [
      (from > 0 ? '…' : '') + text.slice(from, at),
      text.slice(at, at + length),
      text.slice(at + length, at + length + AROUND),
    ],
  };
}
