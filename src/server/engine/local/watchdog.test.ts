import { expect, it } from 'vitest';
import type { EmbedJob } from '../../../contract/job.ts';
import type { JobEvent } from '../../../contract/job-event.ts';
import { DEFAULT_WORKER_LIMITS } from './limits.ts';
import { Watchdog } from './watchdog.ts';

const limits = {
  ...DEFAULT_WORKER_LIMITS,
  heartbeatMs: 500,
  silenceMs: 5_000,
  silencePerCharMs: 1,
  stallMs: 30_000,
  stallFactor: 20,
  stallPerPromptTokenMs: 1_000,
};

const job = (chars: number): EmbedJob => ({
  kind: 'embed',
  jobId: 'j',
  inputs: ['x'.repeat(chars)],
  truncate: false,
});
const text: JobEvent = { type: 'text', text: 'x' };
const started = (promptTokens: number): JobEvent => ({
  type: 'started',
  promptTokens,
  cachedTokens: 0,
  numCtx: 4_096,
});

/** Heartbeats until the verdict; `live` answers each of them. */
function ticksUntilHung(watchdog: Watchdog, live: boolean): number {
  for (let ticks = 1; ticks < 1_000; ticks += 1) {
    if (live) watchdog.alive();
    if (watchdog.tick(true) !== null) return ticks;
  }
  return Number.POSITIVE_INFINITY;
}

it('a silent worker is hung after the silence limit', () => {
  expect(ticksUntilHung(new Watchdog(limits, limits.silenceMs), false)).toBe(11);
});

it('what other programs took of its time is no silence, up to ten times the limit', () => {
  const ticks = (heldUpMs: number): number => {
    const watchdog = new Watchdog(limits, limits.silenceMs);
    for (let at = 1; at < 1_000; at += 1)
      if (watchdog.tick(true, watchdog.isSlow ? heldUpMs : 0) !== null) return at;
    return Number.POSITIVE_INFINITY;
  };
  // Four heartbeats count whole, before anybody looks.
  expect(ticks(0)).toBe(11);
  expect(ticks(250)).toBe(4 + 13);
  expect(ticks(500)).toBe(4 + 61);
  expect(ticks(2_000)).toBe(4 + 61);
});

it('a worker that has a long prompt to read may be silent for longer, until it has begun', () => {
  const watchdog = new Watchdog(limits, limits.silenceMs);
  watchdog.jobOpened(job(5_000));
  expect(ticksUntilHung(watchdog, false)).toBe(21);
  const begun = new Watchdog(limits, limits.silenceMs);
  begun.jobOpened(job(5_000));
  begun.eventSeen('j', started(1), 0);
  expect(ticksUntilHung(begun, false)).toBe(11);
});

it('a live worker that does not move is hung after the least patience', () => {
  const watchdog = new Watchdog(limits, limits.silenceMs);
  watchdog.eventSeen('j', text, 0);
  expect(ticksUntilHung(watchdog, true)).toBe(61);
});

it('slow steps earn patience: twenty of the usual ones, and never more than the limit of a step', () => {
  const afterStepsOf = (stepMs: number): number => {
    const watchdog = new Watchdog(limits, limits.silenceMs);
    for (let i = 0; i < 50; i += 1) watchdog.eventSeen('j', text, i * stepMs);
    return ticksUntilHung(watchdog, true) * limits.heartbeatMs;
  };
  expect(afterStepsOf(2_000)).toBeGreaterThan(39_000);
  expect(afterStepsOf(2_000)).toBeLessThan(42_000);
  expect(afterStepsOf(20_000)).toBe(limits.stallMostMs + limits.heartbeatMs);
});

it('a long prompt earns patience until the child has counted its first step as over', () => {
  const silent = new Watchdog(limits, limits.silenceMs);
  silent.eventSeen('j', started(100), 0);
  expect(ticksUntilHung(silent, true)).toBe(261);
  const counting = new Watchdog(limits, limits.silenceMs);
  counting.eventSeen('j', started(100), 0);
  counting.stepsReported(1, 0);
  expect(ticksUntilHung(counting, true)).toBe(261);
  counting.eventSeen('long', started(4_000), 0);
  expect(ticksUntilHung(counting, true)).toBe(61 + 2 * limits.firstChunkTokens);
  counting.stepsReported(2, 0);
  expect(ticksUntilHung(counting, true)).toBe(61);
});

it('steps count as progress, the same count again does not', () => {
  const watchdog = new Watchdog(limits, limits.silenceMs);
  for (let step = 0; step < 200; step += 1) {
    watchdog.alive();
    watchdog.stepsReported(step, step * 500);
    expect(watchdog.tick(true)).toBeNull();
  }
  watchdog.stepsReported(199, 100_000);
  expect(ticksUntilHung(watchdog, true)).toBeLessThan(62);
});

it('a worker whose jobs have moved since the last beat needs no ping, and any other does', () => {
  const watchdog = new Watchdog(limits, limits.silenceMs);
  const isQuietAfterBeat = (isJobOpen = true): boolean => {
    watchdog.tick(isJobOpen);
    return watchdog.isQuiet;
  };
  expect(isQuietAfterBeat()).toBe(true);
  watchdog.eventSeen('j', text, 0);
  expect(isQuietAfterBeat()).toBe(false);
  expect(isQuietAfterBeat()).toBe(true);
  watchdog.stepsReported(7, 500);
  expect(isQuietAfterBeat()).toBe(false);
  watchdog.alive();
  watchdog.stepsReported(7, 1_000);
  expect(isQuietAfterBeat()).toBe(true);
  // A load reports no events.
  watchdog.eventSeen('j', text, 1_500);
  expect(isQuietAfterBeat(false)).toBe(true);
});

it('a worker without open jobs is not asked for progress', () => {
  const watchdog = new Watchdog(limits, limits.silenceMs);
  for (let i = 0; i < 1_000; i += 1) {
    watchdog.alive();
    expect(watchdog.tick(false)).toBeNull();
  }
});

it('a worker may be silent for as long as a native call takes on a machine that is busy with other programs', () => {
  const plannedMs = 1_000;
  const { silenceMs, heartbeatMs } = DEFAULT_WORKER_LIMITS;
  const ticks = ticksUntilHung(new Watchdog(DEFAULT_WORKER_LIMITS, silenceMs), false);
  expect(ticks * heartbeatMs).toBeGreaterThan(20 * plannedMs);
});
