import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import type { SlotStates } from '../../../contract/slots.ts';
import { JobBoard } from '../../engine/observe/job-board.ts';
import type { ResidencyStatus } from '../../engine/ports.ts';
import { mergePatched } from '../../../lib/base/merge-patch.ts';
import type { EngineState } from '../../../wire/operation/engine-state.ts';
import { RequestRecorder } from '../requests/recorder.ts';
import { EngineFeed, type FeedEvent } from './engine-feed.ts';

const loaded: ResidencyStatus = {
  modelId: 'm',
  kind: 'chat',
  engine: 'local',
  state: 'ready',
  facts: { numCtx: 1024, slots: 2, cells: 1024, memory: [], details: { threads: 2 } },
  planned: [{ device: 'CPU', bytes: 1000 }],
  cache: {
    slotEvictions: 2,
    ram: null,
    disk: { bytes: 7, limitBytes: 9, tokens: 3, evictions: 1, restoredTokens: 4, othersBytes: 1 },
    restores: 1,
    restoreMs: 1.6,
  },
  running: 1,
  queued: 0,
  expiresAtMs: null,
  sinceMs: 1,
  lastUsedMs: 2,
  evictionRank: 1,
};
const work = {
  jobId: 'r.1',
  phase: 'decode',
  promptTokens: 10,
  cachedTokens: 4,
  evaluatedTokens: 10,
  writtenTokens: 0,
  draftedTokens: 0,
  acceptedTokens: 0,
} as const;
const never = new AbortController().signal;

function world() {
  const clock = new ManualClock();
  const board = new JobBoard(clock);
  let onSlots: ((modelId: string, slots: SlotStates) => void) | null = null;
  let reads = 0;
  const feed = new EngineFeed({
    engine: {
      residencies: () => {
        reads += 1;
        return [loaded];
      },
      watchSlots: (listener) => {
        onSlots = listener;
      },
    },
    board,
    devices: () => [{ device: 'CPU', totalBytes: 2 ** 34, freeBytes: 2 ** 33, reserveBytes: 0 }],
    upstreams: () => [],
    gpu: () => null,
    recorder: new RequestRecorder({ mode: 'on', textForMs: 0, clock }),
    clock,
    bootId: 'b0',
  });
  const job = board.watchJob({
    jobId: 'r.1',
    kind: 'generate',
    modelId: 'm',
    clientName: 'curl',
    isFrozen: false,
  });
  return {
    clock,
    feed,
    job,
    isWatched: () => onSlots !== null,
    reads: () => reads,
    says: (writtenTokens: number) =>
      onSlots?.('m', [{ slot: 0, keptTokens: 10 + writtenTokens, work: { ...work, writtenTokens } }]),
  };
}

const next = async (events: AsyncGenerator<FeedEvent, void, void>): Promise<FeedEvent> => {
  const { value } = await events.next();
  if (value === undefined) throw new Error('the stream has ended');
  return value;
};
const stateOf = ({ data }: FeedEvent): EngineState => JSON.parse(data) as EngineState;

describe('the feed of the engine', () => {
  it('begins with the whole state, and goes on with what changes, together and at most four times a second', async () => {
    const { clock, feed, says, job } = world();
    const events = feed.follow(undefined, never);
    const first = await next(events);
    expect(first.event).toBe('snapshot');
    let state = stateOf(first);
    expect(state.jobs['1']).toMatchObject({ state: 'queued', client: 'curl', model: 'm' });
    expect(state.models['m']?.cache).toEqual({
      slot_evictions: 2,
      disk: { bytes: 7, limit_bytes: 9, tokens: 3, evictions: 1, restored_tokens: 4, others_bytes: 1 },
      restores: 1,
      restore_ms: 2,
    });
    job.onEvent({ type: 'started', promptTokens: 10, cachedTokens: 4, numCtx: 1024 });
    says(0);
    await clock.advance(0);
    state = mergePatched(state, stateOf(await next(events))) as EngineState;
    expect(state.jobs['1']).toMatchObject({ state: 'running', prompt_tokens: 10 });
    expect(state.models['m']?.slots['0']).toMatchObject({ kept_tokens: 10, phase: 'decode' });
    const later = next(events);
    for (let written = 1; written <= 10; written += 1) {
      says(written);
      await clock.advance(25);
    }
    const update = await later;
    expect(update.event).toBe('update');
    expect(JSON.parse(update.data)).toMatchObject({ models: { m: { slots: { 0: { kept_tokens: 20 } } } } });
    state = mergePatched(state, stateOf(update)) as EngineState;
    expect(state.models['m']?.slots['0']).toMatchObject({ written_tokens: 10, tokens_per_s: 40 });
    expect(state).toEqual(feed.state());
  });

  it('goes on from where a reader was, and from nowhere else', async () => {
    const { clock, feed, says } = world();
    const leaving = new AbortController();
    const events = feed.follow(undefined, leaving.signal);
    const { id } = await next(events);
    leaving.abort();
    await events.return();
    says(1);
    await clock.advance(0);
    const again = feed.follow(id, never);
    expect((await next(again)).event).toBe('update');
    expect((await next(feed.follow(id.replace('b0', 'b1'), never))).event).toBe('snapshot');
    expect((await next(feed.follow('b0-999', never))).event).toBe('snapshot');
    expect((await next(feed.follow('nonsense', never))).event).toBe('snapshot');
  });

  it('gives a reader that fell far behind the whole state instead of the past', async () => {
    const { clock, feed, says } = world();
    const events = feed.follow(undefined, never);
    await next(events);
    for (let written = 1; written <= 100; written += 1) {
      says(written);
      await clock.advance(250);
    }
    const late = await next(events);
    expect(late.event).toBe('snapshot');
    expect(stateOf(late)).toEqual(feed.state());
  });

  it('watches nothing when nobody reads, and reads nothing while nothing happens', async () => {
    const { clock, feed, isWatched, reads } = world();
    expect(isWatched()).toBe(false);
    const leaving = new AbortController();
    const events = feed.follow(undefined, leaving.signal);
    await next(events);
    expect(isWatched()).toBe(true);
    const before = reads();
    await clock.advance(4_900);
    expect(reads()).toBe(before);
    leaving.abort();
    await events.return();
    await clock.advance(10_000);
    expect(isWatched()).toBe(false);
    expect(clock.pending).toBe(0);
  });

  it('takes so many readers and no more, and lets all go when the service ends', async () => {
    const { feed } = world();
    const readers = Array.from({ length: 64 }, () => feed.follow(undefined, never));
    await Promise.all(readers.map(next));
    expect(() => feed.follow(undefined, never)).toThrow(/64 pages or terminals/);
    const ends = readers.map((reader) => reader.next());
    feed.close();
    expect((await Promise.all(ends)).every(({ done }) => done)).toBe(true);
    expect((await feed.follow(undefined, never).next()).done).toBe(true);
  });

  it('counts a reader from its call until it leaves, even if it never reads', async () => {
    const { feed } = world();
    const leaving = new AbortController();
    for (let reader = 0; reader < 63; reader += 1) feed.follow(undefined, leaving.signal);
    const events = feed.follow(undefined, never);
    expect(() => feed.follow(undefined, never)).toThrow(/64 pages or terminals/);
    leaving.abort();
    for (let reader = 0; reader < 63; reader += 1) feed.follow(undefined, never);
    expect(() => feed.follow(undefined, never)).toThrow(/64 pages or terminals/);
    await next(events);
    await events.return();
    feed.follow(undefined, never);
    expect(() => feed.follow(undefined, never)).toThrow(/64 pages or terminals/);
  });

  it('watches on for the reader that stays, whoever leaves without having read', async () => {
    const { clock, feed, isWatched } = world();
    const first = feed.follow(undefined, never);
    await next(first);
    await first.return();
    await clock.advance(5_000);
    feed.follow(undefined, AbortSignal.abort());
    const second = feed.follow(undefined, never);
    await next(second);
    await clock.advance(60_000);
    expect(isWatched()).toBe(true);
  });
});
