import { describe, expect, it } from 'vitest';
import { EventQueue } from './event-queue.ts';

async function read<T>(queue: EventQueue<T>): Promise<{ items: T[]; error: unknown }> {
  const items: T[] = [];
  try {
    for await (const item of queue) items.push(item);
  } catch (error) {
    return { items, error };
  }
  return { items, error: undefined };
}

describe('an event queue', () => {
  it('hands over what came before the reader and what comes while it waits, in order', async () => {
    const queue = new EventQueue<number>();
    queue.push(1);
    queue.push(2);
    const reading = read(queue);
    await Promise.resolve();
    queue.push(3);
    await Promise.resolve();
    queue.push(4);
    queue.end();
    queue.push(5);
    expect(await reading).toEqual({ items: [1, 2, 3, 4], error: undefined });
  });

  it('fails after everything that was pushed before, and only with the first failure', async () => {
    const queue = new EventQueue<number>();
    queue.push(1);
    queue.fail(new Error('first'));
    queue.fail(new Error('second'));
    queue.end();
    expect(await read(queue)).toEqual({ items: [1], error: new Error('first') });
    expect(await queue.next()).toEqual({ value: undefined, done: true });
  });

  it('wakes a waiting reader with the failure', async () => {
    const queue = new EventQueue<number>();
    const waiting = queue.next();
    queue.fail(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
  });

  it('tells once that its reader left early, and keeps nothing from then on', async () => {
    let left = 0;
    const queue = new EventQueue<number>(() => {
      left += 1;
    });
    queue.push(1);
    queue.push(2);
    for await (const _ of queue) break;
    await queue.return();
    queue.push(3);
    expect(left).toBe(1);
    expect(await queue.next()).toEqual({ value: undefined, done: true });
  });

  it('takes a reader that has seen the end for one that stayed', async () => {
    let left = 0;
    const queue = new EventQueue<number>(() => {
      left += 1;
    });
    queue.end();
    await read(queue);
    await queue.return();
    expect(left).toBe(0);
  });

  it('releases a reader that waits while it leaves', async () => {
    const queue = new EventQueue<number>();
    const waiting = queue.next();
    await queue.return();
    expect(await waiting).toEqual({ value: undefined, done: true });
  });
});
