import { describe, expect, it } from 'vitest';
import type { NativeContext } from '../native.ts';
import type { ChatModel } from '../model.ts';
import { CostModel } from './planning/cost-model.ts';
import { PlainPlanner } from './planner-for.ts';
import { Sequences } from './sequences/sequences.ts';
import type { StreamJob } from './stream/stream-job.ts';
import { Waiting } from './waiting.ts';

/** Lingers some real milliseconds for every prompt. */
class LingeringPlanner extends PlainPlanner {
  override lingerMs(): number {
    return 10;
  }
}

interface Rig {
  readonly sequences: Sequences;
  readonly waiting: Waiting;
}

function rig(count: number, native: Partial<NativeContext> = {}): Rig {
  const planner = new LingeringPlanner();
  const memory = { cutSequence: () => true, clearSequence: () => undefined, ...native };
  const facts = { sequences: count, contextBytes: 1_000 };
  const chat = {
    context: memory as NativeContext,
    prefixReuse: 'full',
    sharedCells: null,
    facts,
  } as ChatModel;
  const sequences = new Sequences(chat, new CostModel());
  return { sequences, waiting: new Waiting(sequences, planner) };
}

function job(jobId: string, ...prompt: number[]): StreamJob {
  return { job: { jobId }, prompt: Uint32Array.from(prompt), owner: '' } as StreamJob;
}

/** Assigns sequences to all that can have one; `broken`: jobs that cannot begin. */
function assign(waiting: Waiting, broken: readonly string[] = []): string[] {
  const outcomes: string[] = [];
  waiting.assignSequences([], {
    begin: ({ job: { jobId } }, { id }) => {
      if (broken.includes(jobId)) throw new Error('no sampler');
      outcomes.push(`${jobId} in ${id}`);
    },
    restore: ({ job: { jobId } }) => outcomes.push(`${jobId} restored`),
    failed: ({ job: { jobId } }) => outcomes.push(`${jobId} failed`),
  });
  return outcomes;
}

/** Whether the loop lingers for a single job; the clock is real. */
async function lingers(waiting: Waiting): Promise<boolean> {
  waiting.push(job('alone', 1, 2, 3));
  let ended = false;
  const lingering = waiting.linger().then(() => {
    ended = true;
  });
  // Without a timer it ends within a few microtasks, and no timer fires between those.
  for (let i = 0; i < 10; i += 1) await Promise.resolve();
  const lingered = !ended;
  await lingering;
  waiting.removeAll();
  return lingered;
}

describe('lingering', () => {
  it('is given up where requests follow one another, until two overlap', async () => {
    const { waiting } = rig(2);
    for (const expected of [true, true, false, false]) expect(await lingers(waiting)).toBe(expected);
    waiting.noteOverlap();
    expect(await lingers(waiting)).toBe(true);
  });

  it('is not fruitless when another request arrives meanwhile', async () => {
    const { waiting } = rig(2);
    for (let round = 0; round < 4; round += 1) {
      waiting.push(job('first', 1, 2, 3));
      const lingering = waiting.linger();
      waiting.push(job('second', 4, 5, 6));
      await lingering;
      waiting.removeAll();
    }
    expect(await lingers(waiting)).toBe(true);
  });
});

describe('assigning sequences', () => {
  it('gives a conversation its own sequence before a newcomer can take it', async () => {
    const { sequences, waiting } = rig(1);
    waiting.push(job('first', 1, 2, 3));
    expect(assign(waiting)).toEqual(['first in 0']);
    sequences.append(0, Uint32Array.of(1, 2, 3, 4));
    sequences.release(0, 1);

    waiting.push(job('newcomer', 9, 8, 7));
    waiting.push(job('next turn', 1, 2, 3, 4, 5));
    expect(assign(waiting)).toEqual(['next turn in 0']);
    expect(waiting.size).toBe(1);
  });

  it('frees the sequence of a job that cannot begin, and reports it', async () => {
    const { waiting } = rig(1);
    waiting.push(job('broken', 1, 2));
    waiting.push(job('sound', 3, 4));
    expect(assign(waiting, ['broken'])).toEqual(['broken failed', 'sound in 0']);
    expect(waiting.size).toBe(0);
  });

  it('keeps jobs that find no free sequence', async () => {
    const { waiting } = rig(1);
    waiting.push(job('a', 1, 2));
    waiting.push(job('b', 3, 4));
    expect(assign(waiting)).toEqual(['a in 0']);
    expect(waiting.has('a')).toBe(false);
    expect(waiting.has('b')).toBe(true);
    expect(waiting.removeAll().map(({ job: { jobId } }) => jobId)).toEqual(['b']);
  });

  it('knows a job until it begins, so that it can be cancelled while cached state is copied', async () => {
    const shared = Array.from({ length: 40 }, (_, token) => token);
    let knownDuringCopy: boolean | undefined;
    const { sequences, waiting } = rig(2, {
      copySequence: () => {
        knownDuringCopy = waiting.has('copying');
      },
    });
    waiting.push(job('source', ...shared, 100));
    assign(waiting);
    sequences.append(0, Uint32Array.from([...shared, 100]));
    waiting.push(job('copying', ...shared, 200));
    expect(assign(waiting)).toEqual(['copying in 1']);
    expect(knownDuringCopy).toBe(true);
    expect(waiting.has('copying')).toBe(false);
  });
});
