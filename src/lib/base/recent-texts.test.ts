import { describe, expect, it } from 'vitest';
import { RecentTexts } from './recent-texts.ts';

describe('RecentTexts', () => {
  it('makes each value once, while it is remembered', () => {
    const texts = new RecentTexts<number>({ entries: 2, chars: 100 });
    let made = 0;
    const of = (text: string): number => texts.of(text, () => (made += 1));
    expect([of('a'), of('a'), of('b'), of('a')]).toEqual([1, 1, 2, 1]);
    // The least recently used is gone.
    expect([of('c'), of('a'), of('b')]).toEqual([3, 1, 4]);
  });

  it('forgets for the length of its texts, and keeps none that is longer than all may be', () => {
    const texts = new RecentTexts<number>({ entries: 10, chars: 10 });
    texts.set('12345', 1);
    texts.set('67890', 2);
    texts.set('12345', 3);
    expect([texts.get('12345'), texts.get('67890')]).toEqual([3, 2]);
    texts.set('abc', 4);
    expect([texts.get('12345'), texts.get('67890'), texts.get('abc')]).toEqual([undefined, 2, 4]);
    texts.set('x'.repeat(11), 5);
    expect(texts.size).toBe(0);
  });

  it('counts what results take, where that follows from no text', () => {
    const texts = new RecentTexts<string>({ entries: 10, chars: 10 }, (made) => made.length);
    texts.set('a', 'made');
    texts.set('b', 'made');
    texts.set('c', 'made');
    expect([texts.get('a'), texts.get('b'), texts.get('c')]).toEqual([undefined, 'made', 'made']);
  });
});
