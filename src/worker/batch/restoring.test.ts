import { beforeEach, expect, it } from 'vitest';
import { type Deferred, deferred } from '../../lib/base/deferred.ts';
import { Restoring } from './restoring.ts';
import type { Placement } from './sequences/placement.ts';
import type { Sequences } from './sequences/sequences.ts';
import type { StreamJob } from './stream/stream-job.ts';
import type { Restored, Tiers } from './tiers/tiers.ts';
import type { Restoration } from './waiting.ts';

const STATE = new Uint8Array(8);
const job = { job: { jobId: 'job' }, prompt: Uint32Array.of(1, 2, 3), owner: '' } as StreamJob;

let events: string[];
let arrives: Deferred<Restored>;
let fits: boolean;
let restoring: Restoring;

beforeEach(() => {
  events = [];
  arrives = deferred();
  fits = true;
  const sequences = {
    restore: (id: number, tokens: Uint32Array) =>
      events.push(`${tokens.length} tokens into ${id}`) > 0 && fits,
    giveUp: (id: number) => events.push(`${id} is free`),
  };
  restoring = new Restoring(sequences as unknown as Sequences, {
    begin: (_, { keep }, { refusal }) => events.push(`begins with ${keep}, ${refusal}`),
    failed: () => events.push('failed'),
  });
});

function begin(): Promise<void> {
  const tiers = { restore: () => arrives.promise, restored: () => events.push('counted') };
  const before = { nearest: null, refusal: 'not_worth', wasHeld: false };
  const restoration = { tiers: tiers as unknown as Tiers, before } as unknown as Restoration;
  return restoring.restore(job, { id: 4 } as Placement, restoration);
}

function restored(state: Uint8Array | null): Restored {
  const found = { ramTokens: 0, diskTokens: 2 };
  const restorable = { length: 2, found } as Restored['restorable'];
  return { state, restorable, refusal: state === null ? 'damaged' : null, restoreMs: 1 };
}

it('begins the job with what came', async () => {
  const over = begin();
  expect(restoring.prompts).toMatchObject([{ position: 0 }]);
  arrives.resolve(restored(STATE));
  await over;
  expect(events).toEqual(['2 tokens into 4', 'counted', 'begins with 2, not_worth']);
  expect(restoring.size).toBe(0);
});

it('begins it with nothing where nothing came or the library refused it', async () => {
  let over = begin();
  arrives.resolve(restored(null));
  await over;
  fits = false;
  arrives = deferred();
  over = begin();
  arrives.resolve(restored(STATE));
  await over;
  expect(events).toEqual(['begins with 0, damaged', '2 tokens into 4', 'begins with 0, not_restored']);
});

it('frees the sequence of a job that left, and only then ends the wait', async () => {
  const over = begin();
  expect(restoring.remove('job')).toBe(true);
  let isOver = false;
  const wait = restoring.untilChange().then(() => (isOver = true));
  await Promise.resolve();
  expect(isOver).toBe(false);
  arrives.resolve(restored(STATE));
  await Promise.all([over, wait]);
  expect(events).toEqual(['4 is free']);
});

it('fails a job only once', async () => {
  let over = begin();
  arrives.reject(new Error('no memory'));
  await over;
  expect(events).toEqual(['4 is free', 'failed']);
  arrives = deferred();
  over = begin();
  restoring.removeAll();
  arrives.reject(new Error('no memory'));
  await over;
  expect(events).toEqual(['4 is free', 'failed', '4 is free']);
});
