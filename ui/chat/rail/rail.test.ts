import { describe, expect, it } from 'vitest';
import { type Conversation, newConversation, withEntry } from '../talk/conversation.ts';
import { found, MOST_HITS } from './find.ts';
import { foldersOf, grouped } from './groups.ts';

const conversation = (title: string, text: string, more: Partial<Conversation> = {}): Conversation => ({
  ...withEntry(newConversation('m'), { id: 'x', parent: null, role: 'user', text }),
  title,
  ...more,
});
const NOON = new Date(2026, 10, 26, 12).getTime();
const HOUR = 3_600_000;

describe('groups', () => {
  it('are by the calendar and not by hours, with what is pinned above', () => {
    const at = (title: string, hours: number, more: Partial<Conversation> = {}) =>
      conversation(title, '', { changedAt: NOON - hours * HOUR, ...more });
    const all = [
      at('now', 0),
      at('night', 11.9),
      at('evening', 13),
      at('week', 24 * 6),
      at('month', 24 * 20),
      at('old', 24 * 40, { isPinned: true }),
      at('older', 24 * 70),
    ];
    expect(
      grouped(all, NOON).map(({ title, conversations }) => [title, conversations.map((each) => each.title)]),
    ).toEqual([
      ['Pinned', ['old']],
      ['Today', ['now', 'night']],
      ['Yesterday', ['evening']],
      ['Last 7 days', ['week']],
      ['Last 30 days', ['month']],
      ['September 2026', ['older']],
    ]);
  });
});

describe('folders', () => {
  it('stand by their names between what is pinned and the days, each with its pinned members first', () => {
    const all = [
      conversation('one', '', { folder: 'work', changedAt: NOON }),
      conversation('two', '', { changedAt: NOON }),
      conversation('three', '', { folder: 'garden', changedAt: NOON - 99 * HOUR }),
      conversation('four', '', { folder: 'work', isPinned: true, changedAt: NOON }),
      // A folder may be called as a day is.
      conversation('five', '', { folder: 'Today', changedAt: NOON }),
    ];
    expect(
      grouped(all, NOON).map(({ title, isFolder, conversations }) => [
        title,
        isFolder,
        conversations.map((each) => each.title),
      ]),
    ).toEqual([
      ['garden', true, ['three']],
      ['Today', true, ['five']],
      ['work', true, ['four', 'one']],
      ['Today', false, ['two']],
    ]);
    expect(foldersOf(all)).toEqual(['garden', 'Today', 'work']);
  });
});

describe('a search', () => {
  const all = [conversation('Beans', 'When to sow?'), conversation('Garden', 'Beans and peas, in rows')];

  it('wants every word, in any case, and puts titles first', () => {
    expect(found(all, 'BEANS').map(({ title }) => title)).toEqual(['Beans', 'Garden']);
    expect(found(all, 'peas rows').map(({ title }) => title)).toEqual(['Garden']);
    expect(found(all, 'peas sow')).toEqual([]);
    expect(found(all, '').map(({ title }) => title)).toEqual(['Beans', 'Garden']);
  });

  it('shows the text around the first word', () => {
    const [hit] = found([conversation('T', `${'a '.repeat(100)}Needle ${'b '.repeat(100)}`)], 'needle');
    expect(hit?.excerpt[1]).toBe('Needle');
    expect(hit?.excerpt[0]).toMatch(/^…/);
    expect(hit?.excerpt.join('').length).toBeLessThan(140);
  });

  it('lists a title before texts, however many newer texts match', () => {
    const texts = Array.from({ length: 2 * MOST_HITS }, (_, at) => conversation(`T${at}`, 'beans'));
    const hits = found([...texts, conversation('Beans', 'soup')], 'beans');
    expect(hits).toHaveLength(MOST_HITS);
    expect(hits[0]?.title).toBe('Beans');
  });

  it('lists no more than its limit', () => {
    expect(found(Array<Conversation>(200).fill(all[0] as Conversation), 'beans')).toHaveLength(MOST_HITS);
  });
});
