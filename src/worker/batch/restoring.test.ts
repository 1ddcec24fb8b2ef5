import { beforeEach, expect, it } from 'vitest';
import { type Deferred, deferred } from '../../lib/base/deferred.ts';
import { Restoring } from './restoring.ts';
import type { StateTaker } from '../cache/state-reader.ts';
import type { Placement } from './sequences/placement.ts';
import type { Sequences } from './sequences/sequences.ts';
import type { StreamJob } from './stream/stream-job.ts';
import type { Restored, Tiers } from './tiers/tiers.ts';
import type { Restoration } from './waiting.ts';

const STATE = new Uint8Array(8);
const job = { job: { jobId: 'job' }, prompt: Uint32Array.of(1, 2, 3), owner: '' } as StreamJob;

let events: string[];
let arrives: Deferred<Restored>;
let takes: boolean[];
let begins: (how: string) => void;
let held: number;
let kept: number;
let restoring: Restoring;

beforeEach(() => {
  events = [];
  arrives = deferred();
  takes = [];
  held = 0;
  kept = 2;
  begins = (how) => events.push(how);
  const sequences = {
    takerFor: (id: number) => ({ inParts: true, take: () => events.push(`into ${id}`) > 0 }),
    held: () => held,
    backToBorder: () => kept,
    giveUp: (id: number) => events.push(`${id} is free`),
  };
  restoring = new Restoring(sequences as unknown as Sequences, {
    begin: (_, { keep }, { refusal }) => begins(`begins with ${keep}, ${refusal}`),
    failed: () => events.push('failed'),
  });
});

function begin(): Promise<void> {
  const tiers = {
    restore: async (_: unknown, { take }: StateTaker) => {
      takes.push(take(STATE, 1));
      const restored = await arrives.promise;
      takes.push(take(STATE, 1));
      return restored;
    },
  };
  const before = { nearest: null, refusal: 'not_worth', wasHeld: false };
  const restoration = { tiers: tiers as unknown as Tiers, before } as unknown as Restoration;
  return restoring.restore(job, { id: 4 } as Placement, restoration);
}

function restored(diskTokens: number, refusal: Restored['refusal'] = null): Restored {
  return { ramTokens: 0, diskTokens, refusal, restoreMs: 1 };
}

it('begins the job with what came', async () => {
  const over = begin();
  expect(restoring.prompts).toMatchObject([{ position: 0 }]);
  arrives.resolve(restored(2));
  await over;
  expect(takes).toEqual([true, true]);
  expect(events).toEqual(['into 4', 'into 4', 'begins with 2, not_worth']);
  expect(restoring.size).toBe(0);
});

it('tells what has come, and whether it holds cells, until it is over', async () => {
  expect(restoring.holdsCells).toBe(false);
  const over = begin();
  expect(restoring.holdsCells).toBe(false);
  held = 2;
  expect(restoring.prompts).toMatchObject([{ position: 2 }]);
  expect(restoring.holdsCells).toBe(true);
  restoring.remove('job');
  expect(restoring.prompts).toEqual([]);
  expect(restoring.holdsCells).toBe(true);
  arrives.resolve(restored(2));
  await over;
  expect(restoring.holdsCells).toBe(false);
});

it('begins it with nothing where nothing came', async () => {
  const over = begin();
  kept = 0;
  arrives.resolve(restored(0, 'damaged'));
  await over;
  expect(events.at(-1)).toBe('begins with 0, damaged');
});

it('takes nothing more for a job that left, frees its sequence, and only then ends the wait', async () => {
  const over = begin();
  expect(restoring.remove('job')).toBe(true);
  let isOver = false;
  const wait = restoring.untilChange().then(() => (isOver = true));
  await Promise.resolve();
  expect(isOver).toBe(false);
  arrives.resolve(restored(2));
  await Promise.all([over, wait]);
  expect(takes).toEqual([true, false]);
  expect(events).toEqual(['into 4', '4 is free']);
});

it('fails a job only once', async () => {
  let over = begin();
  arrives.reject(new Error('no memory'));
  await over;
  expect(events).toEqual(['into 4', '4 is free', 'failed']);
  arrives = deferred();
  over = begin();
  restoring.removeAll();
  arrives.reject(new Error('no memory'));
  await over;
  expect(events.slice(3)).toEqual(['into 4', '4 is free']);
});

it('fails a job that cannot begin, and frees its sequence', async () => {
  const over = begin();
  begins = () => {
    throw new Error('no sampler');
  };
  arrives.resolve(restored(2));
  await over;
  expect(events.slice(2)).toEqual(['4 is free', 'failed']);
});
