import { describe, expect, it } from 'vitest';
import type { Generation } from './generation.ts';
import type { NativeContext } from '../addon/native.ts';
import type { ChatModel } from '../model.ts';
import { Sequences } from './sequences.ts';
import { Waiting } from './waiting.ts';

const cost = () => ({ waiting: 1, rowMs: 5, stepMs: (rows: number) => 30 * rows });
const context = {
  cutSequence: () => true,
  clearSequence: () => undefined,
} as Partial<NativeContext> as NativeContext;

function sequences(count: number): Sequences {
  const facts = { sequences: count, contextBytes: 1_000, numCtx: 64 };
  return new Sequences({ context, prefixReuse: 'full', facts } as ChatModel);
}

function job(jobId: string, ...prompt: number[]): Generation {
  return { jobId, prompt: Uint32Array.from(prompt), cancelled: false } as Partial<Generation> as Generation;
}

/** Places everything that can be placed; `breaks`: jobs that cannot begin. */
async function place(waiting: Waiting, breaks: readonly string[] = []): Promise<string[]> {
  const said: string[] = [];
  await waiting.place([], cost, {
    begin: ({ jobId }, { id }) => {
      if (breaks.includes(jobId)) throw new Error('no sampler');
      said.push(`${jobId} in ${id}`);
    },
    failed: ({ jobId }) => said.push(`${jobId} failed`),
  });
  return said;
}

/** Whether a job on its own waits for company; the clock is real, the wait some milliseconds. */
async function waitsForCompany(waiting: Waiting, msPerToken = 300): Promise<boolean> {
  waiting.push(job('alone', 1, 2, 3));
  let ended = false;
  const gathered = waiting.gather(cost, msPerToken).then(() => {
    ended = true;
  });
  // Without a timer it ends within a few microtasks, and no timer fires between those.
  for (let i = 0; i < 10; i++) await Promise.resolve();
  const waited = !ended;
  await gathered;
  waiting.take(() => true);
  return waited;
}

describe('Waiting', () => {
  it('gives up to wait for company where requests follow one another, until two overlap', async () => {
    const waiting = new Waiting(sequences(2));
    for (const expected of [true, true, false, false]) expect(await waitsForCompany(waiting)).toBe(expected);
    waiting.sawCompany();
    expect(await waitsForCompany(waiting)).toBe(true);
  });

  it('does not count as vain a wait in which somebody came', async () => {
    const waiting = new Waiting(sequences(2));
    for (let round = 0; round < 4; round++) {
      waiting.push(job('first', 1, 2, 3));
      const gathered = waiting.gather(cost, 50);
      waiting.push(job('second', 4, 5, 6));
      await gathered;
      waiting.take(() => true);
    }
    expect(await waitsForCompany(waiting)).toBe(true);
  });

  it('gives a conversation its own sequence before a newcomer can take it', async () => {
    const held = sequences(1);
    const waiting = new Waiting(held);
    waiting.push(job('first', 1, 2, 3));
    expect(await place(waiting)).toEqual(['first in 0']);
    held.evaluated(0, Uint32Array.of(1, 2, 3, 4));
    held.release(0, 1);

    waiting.push(job('newcomer', 9, 8, 7));
    waiting.push(job('next turn', 1, 2, 3, 4, 5));
    expect(await place(waiting)).toEqual(['next turn in 0']);
    expect(waiting.size).toBe(1);
  });

  it('frees the sequence of a job that cannot begin, and says so', async () => {
    const waiting = new Waiting(sequences(1));
    waiting.push(job('broken', 1, 2));
    waiting.push(job('sound', 3, 4));
    expect(await place(waiting, ['broken'])).toEqual(['broken failed', 'sound in 0']);
    expect(waiting.size).toBe(0);
  });

  it('keeps who finds no sequence', async () => {
    const waiting = new Waiting(sequences(1));
    waiting.push(job('a', 1, 2));
    waiting.push(job('b', 3, 4));
    expect(await place(waiting)).toEqual(['a in 0']);
    expect(waiting.find('b')?.jobId).toBe('b');
    expect(waiting.take(() => true).map(({ jobId }) => jobId)).toEqual(['b']);
  });
});
