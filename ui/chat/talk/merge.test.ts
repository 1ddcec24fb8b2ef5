import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Conversation,
  newConversation,
  pathTo,
  withBelow,
  withChangedEntry,
  withEntriesBack,
  withEntry,
  withFolder,
  withLeaf,
  withoutEntries,
} from './conversation.ts';
import type { Entry } from './entry.ts';
import { followed, merged } from './merge.ts';

const entry = (id: string, parent: string | null, more: Partial<Entry> = {}): Entry => ({
  id,
  parent,
  role: 'user',
  text: id,
  ...more,
});
const said = (conversation: Conversation, ...entries: readonly Entry[]): Conversation =>
  entries.reduce((now, each) => withLeaf(withEntry(now, each), 0, each.id), conversation);
const ids = ({ entries }: Conversation): string[] => entries.map(({ id }) => id).toSorted();

const begun = said(newConversation('m'), entry('a', null), entry('b', 'a'));

/** Each number says something below one of the entries that are there. */
const WRITING = fc.array(fc.nat({ max: 5 }), { maxLength: 12 });
const written = (tab: string, picks: readonly number[]): Conversation =>
  picks.reduce(
    (now, pick, at) => said(now, entry(`${tab}${at}`, now.entries[pick % now.entries.length]?.id ?? null)),
    begun,
  );

describe('two tabs', () => {
  it('keep all that either wrote, whoever stores first, and every path leads to the beginning', () => {
    fc.assert(
      fc.property(WRITING, WRITING, (left, right) => {
        const [one, two] = [written('l', left), written('r', right)];
        const both = merged(one, two);
        expect(ids(both)).toEqual([...new Set([...ids(one), ...ids(two)])].toSorted());
        expect(ids(merged(two, one))).toEqual(ids(both));
        expect(merged(both, one).entries).toEqual(both.entries);
        for (const { id } of both.entries) expect(pathTo(both, id)[0]?.parent).toBeNull();
      }),
    );
  });

  it('follow one another from the same place, and stay where they went another way', () => {
    const far = said(begun, entry('c', 'b'), entry('d', 'c'));
    expect(followed(begun, far).lanes[0]?.leaf).toBe('d');
    const apart = said(begun, entry('other', 'b'));
    expect(followed(apart, far).lanes[0]?.leaf).toBe('other');
    expect(ids(followed(apart, far))).toEqual(['a', 'b', 'c', 'd', 'other']);
  });

  it('take the answer that is done for the one that is being made, and the longer of two of these', () => {
    const open = (text: string) => said(begun, entry('x', 'b', { role: 'assistant', text, isOpen: true }));
    const done = withChangedEntry(
      open(''),
      entry('x', 'b', { role: 'assistant', text: 'all', finish: 'stop' }),
    );
    const textOf = (conversation: Conversation) => conversation.entries.at(-1)?.text;
    expect([
      textOf(merged(open('longer than all'), done)),
      textOf(merged(done, open('longer than all'))),
    ]).toEqual(['all', 'all']);
    expect([textOf(merged(open('ab'), open('a'))), textOf(merged(open('a'), open('ab')))]).toEqual([
      'ab',
      'ab',
    ]);
  });

  it('never take a finished answer for cut, nor a longer text for a shorter one', () => {
    const answer = (more: Partial<Entry>) => said(begun, entry('x', 'b', { role: 'assistant', ...more }));
    const open = answer({ text: 'abc', isOpen: true });
    const cut = answer({ text: 'ab', finish: 'cut' });
    const done = answer({ text: 'a', finish: 'stop' });
    const failed = answer({ text: '', failure: 'lost' });
    const last = (conversation: Conversation) => conversation.entries.at(-1);
    for (const [one, two] of [
      [cut, done],
      [done, cut],
    ] as const)
      expect(last(merged(one, two))).toMatchObject({ text: 'a', finish: 'stop' });
    expect(last(merged(cut, failed))).not.toHaveProperty('finish');
    for (const [one, two] of [
      [cut, open],
      [open, cut],
    ] as const) {
      expect(last(merged(one, two))).toMatchObject({ text: 'abc', finish: 'cut' });
      expect(last(merged(one, two))).not.toHaveProperty('isOpen');
    }
  });

  it('show another version of what was taken out, and bring it back to its place', () => {
    const two = said(begun, entry('c1', 'b'), entry('d', 'c1'), entry('c2', 'b'));
    const first = withLeaf(two, 0, 'd');
    const gone = withBelow(first, 'c1');
    const left = withoutEntries(first, gone);
    expect(left.lanes[0]?.leaf).toBe('c2');
    const back = withEntriesBack(left, gone, first.entries);
    expect(back.entries).toEqual(first.entries);
    expect(merged(left, back).entries).toEqual(first.entries);
  });

  it('bring back nothing that one of them took out, until it is brought back', () => {
    const gone = withoutEntries(begun, withBelow(begun, 'b'));
    expect(ids(merged(begun, gone))).toEqual(['a']);
    expect(ids(merged(gone, begun))).toEqual(['a']);
    expect(merged(gone, begun).lanes[0]?.leaf).toBe('a');
    const back = withEntriesBack(gone, [entry('b', 'a')]);
    expect(ids(merged(gone, back))).toEqual(['a', 'b']);
  });

  it('keep the later name and the later folder, also where it was taken out of one', () => {
    const renamed = { ...begun, title: 'new', editedAt: begun.changedAt + 1 };
    expect([merged(begun, renamed).title, merged(renamed, begun).title]).toEqual(['new', 'new']);
    const moved = { ...withFolder(begun, ' work '), editedAt: begun.changedAt + 1 };
    expect([merged(begun, moved).folder, merged(moved, begun).folder]).toEqual(['work', 'work']);
    const out = { ...withFolder(moved, null), editedAt: begun.changedAt + 2 };
    expect([merged(moved, out).folder, merged(out, moved).folder]).toEqual([undefined, undefined]);
  });
});
