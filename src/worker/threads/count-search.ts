/**
 * Finds the best thread count for one kind of native calls while they run: from time to time a step tries a
 * neighbouring count, and the better one stays. Trials lose at most a fixed share of the running time.
 */
import { type Call, CostModel, callSize, type Size } from '../batch/planning/cost-model.ts';
import { Credit } from './credit.ts';
import { EXPLORING, type SearchLimits } from './limits.ts';

export interface PlannedCall extends Pick<Call, 'phase' | 'rows' | 'cells'> {
  readonly atMs: number;
}

interface TimedCall extends PlannedCall {
  readonly threads: number;
  readonly ms: number;
  readonly isDisturbed: boolean;
}

interface Trial {
  readonly size: Size;
  readonly threads: number;
  readonly calls: TriedCall[];
  lostMs: number;
  waited: number;
  isDisturbed: boolean;
}

interface TriedCall {
  readonly call: PlannedCall;
  readonly ms: number;
  /** Actual time / expected time with the current count. */
  readonly ratio: number;
}

interface Rival {
  /** Time of steps between trials, and at which the next one is due. */
  everyMs: number;
  dueMs: number;
  ratio: number;
  lost: boolean;
  /** It lost while another program ran, which says little about the time after that. */
  isDisturbed: boolean;
  known: { readonly call: PlannedCall; readonly ms: number } | null;
}

export class CountSearch {
  readonly #counts: readonly number[];
  readonly #limits: SearchLimits;
  #costs = new CostModel();
  readonly #credit: Credit;
  readonly #rivals: readonly Rival[];
  readonly #noted = new Map<Size, { readonly call: PlannedCall; readonly ms: number }>();
  #lastMs = 0;
  #at: number;
  #trial: Trial | null = null;
  #isDisturbed = false;
  #calmSteps = 0;

  constructor(counts: readonly number[], start: number, limits: SearchLimits) {
    this.#counts = counts;
    this.#limits = limits;
    this.#credit = new Credit(limits);
    this.#at = Math.max(0, counts.indexOf(start));
    this.#rivals = counts.map(() => ({
      everyMs: EXPLORING.soonMs,
      dueMs: EXPLORING.soonMs,
      ratio: 2,
      lost: false,
      isDisturbed: false,
      known: null,
    }));
  }

  get count(): number {
    return this.#counts[this.#at] ?? 1;
  }

  /** Every neighbouring count was tried undisturbed and was no better, since the machine last changed. */
  get isSettled(): boolean {
    const rivals = this.#neighbours().map((at) => this.#rivals[at]);
    // A single count was never compared.
    return rivals.length > 0 && rivals.every((rival) => rival?.lost === true && !rival.isDisturbed);
  }

  next(call: PlannedCall): number {
    if (call.atMs - this.#lastMs > this.#limits.forgetMs) this.#beginAnew();
    const expectedMs = this.#expectedMs(call);
    if (expectedMs === null) return this.count;
    this.#trial ??= this.#begin(call, expectedMs);
    return this.#trial?.size === callSize(call) ? this.#trial.threads : this.count;
  }

  observe(call: TimedCall): void {
    const { ms, atMs, threads } = call;
    this.#lastMs = atMs;
    this.#credit.earn(ms);
    this.#isDisturbed = call.isDisturbed;
    this.#calmSteps = call.isDisturbed ? 0 : this.#calmSteps + 1;
    const trial = this.#trial;
    if (trial?.size === callSize(call) && trial.threads === threads) return this.#tried(trial, call);
    if (threads !== this.count) return;
    this.#costs.observe(call, ms);
    if (trial !== null) trial.waited += 1;
    if (trial !== null && trial.waited > EXPLORING.patienceSteps) this.#trial = null;
    this.#noteChange(call);
  }

  #expectedMs(call: PlannedCall): number | null {
    return this.#costs.seen(call) < this.#limits.least ? null : this.#costs.predict(call);
  }

  #beginAnew(): void {
    this.#trial = null;
    this.#costs = new CostModel();
    this.#noted.clear();
  }

  /** Call after the machine has changed: counts that lost may win. After other programs end, only higher counts may. */
  reconsider({ othersLeft }: { readonly othersLeft: boolean }): void {
    const hasMore = this.#at < this.#counts.length - 1;
    if (othersLeft && hasMore) this.#credit.grant();
    if (othersLeft && this.#limits.keepsAll) this.#takeAll();
    for (const [at, rival] of this.#rivals.entries()) {
      if (othersLeft ? at < this.#at : isFarBehind(rival)) continue;
      rival.lost = false;
      rival.ratio = Math.min(2, rival.ratio);
      rival.everyMs = EXPLORING.soonMs;
      rival.dueMs = this.#credit.busyMs;
    }
  }

  #takeAll(): void {
    this.#at = this.#counts.length - 1;
    this.#beginAnew();
  }

  #neighbours(): number[] {
    return [this.#at + 1, this.#at - 1].filter((at) => at >= 0 && at < this.#counts.length);
  }

  #begin(call: PlannedCall, expectedMs: number): Trial | null {
    const wanted = this.#neighbours().find((at) => this.#mayWin(at, call, expectedMs));
    if (wanted === undefined) return null;
    const threads = this.#counts[wanted] ?? 1;
    return { size: callSize(call), threads, calls: [], lostMs: 0, waited: 0, isDisturbed: false };
  }

  #mayWin(at: number, call: PlannedCall, expectedMs: number): boolean {
    const rival = this.#rivals[at];
    if (rival === undefined) return false;
    if (at < this.#at && this.#limits.keepsAll && !this.#isDisturbed) return false;
    const { known } = rival;
    const isKnown =
      known !== null &&
      callSize(known.call) === callSize(call) &&
      call.atMs - known.call.atMs <= EXPLORING.knownMs;
    if (isKnown && known.ms < EXPLORING.promising * this.#costs.predict(known.call)) return true;
    // A loss above one step becomes debt, or a very bad count would never be tried again.
    const stake = Math.min(1, Math.max(EXPLORING.leastStake, rival.ratio - 1));
    const stakeMs = stake * expectedMs * trialPrice(rival);
    return this.#credit.busyMs >= rival.dueMs && this.#credit.affords(stakeMs);
  }

  #tried(trial: Trial, call: TimedCall): void {
    const { better, wins, losses } = this.#limits;
    const expectedMs = this.#costs.predict(call);
    const ratio = call.ms / expectedMs;
    trial.calls.push({ call, ms: call.ms, ratio });
    trial.isDisturbed ||= call.isDisturbed;
    trial.lostMs += call.ms - expectedMs;
    const good = trial.calls.filter((each) => each.ratio < better).length;
    if (good >= wins) return this.#won(trial, call);
    if (ratio >= EXPLORING.hopeless || trial.calls.length - good >= losses) this.#lost(trial, call);
  }

  #won(trial: Trial, call: PlannedCall): void {
    const left = this.#rivals[this.#at];
    const expectedMs = this.#costs.predict(call);
    this.#credit.pay(trial.lostMs, expectedMs);
    this.#at = this.#counts.indexOf(trial.threads);
    for (const at of this.#neighbours()) {
      const rival = this.#rivals[at];
      if (rival === undefined) continue;
      // The next one in the same direction may be better still.
      rival.lost = false;
      rival.ratio = rival === left ? 2 : 1;
      rival.dueMs = this.#credit.busyMs + (rival === left ? rival.everyMs : 0);
    }
    if (left !== undefined) {
      left.known = { call, ms: expectedMs };
      left.isDisturbed = this.#calmSteps < this.#limits.calmSteps;
    }
    this.#beginAnew();
    for (const tried of trial.calls) this.#costs.observe(tried.call, tried.ms);
  }

  #lost(trial: Trial, call: PlannedCall): void {
    this.#trial = null;
    const rival = this.#rivals[this.#counts.indexOf(trial.threads)];
    if (rival === undefined) return;
    const expectedMs = this.#costs.predict(call);
    const hasFewer = trial.threads < this.count;
    rival.lost = true;
    // Other programs favour fewer threads, so a count that loses with them also loses without them.
    rival.isDisturbed = trial.isDisturbed && !hasFewer;
    rival.ratio = Math.max(...trial.calls.map(({ ratio }) => ratio));
    rival.known = { call, ms: rival.ratio * expectedMs };
    rival.dueMs = this.#credit.busyMs + rival.everyMs;
    rival.everyMs = longerInterval(rival, hasFewer);
    this.#credit.pay(trial.lostMs, expectedMs, trialPrice(rival));
  }

  /** If similar calls take another time than before, the machine has changed. */
  #noteChange(call: PlannedCall): void {
    if (this.#expectedMs(call) === null) return;
    const noted = this.#noted.get(callSize(call));
    const isLike = noted !== undefined && Math.abs(noted.call.cells - call.cells) < EXPLORING.likeCells;
    const nowMs = this.#costs.predict(noted?.call ?? call);
    if (isLike && nowMs < noted.ms * EXPLORING.changed && noted.ms < nowMs * EXPLORING.changed) return;
    this.#noted.set(callSize(call), { call, ms: this.#costs.predict(call) });
    if (isLike) this.reconsider({ othersLeft: false });
  }
}

/** A count that lost by far, undisturbed and repeatedly, does not become good just because steps change their speed. */
function isFarBehind({ lost, isDisturbed, ratio, everyMs }: Rival): boolean {
  return lost && !isDisturbed && ratio >= EXPLORING.farBehind && everyMs > 2 * EXPLORING.soonMs;
}

function longerInterval({ everyMs, ratio, isDisturbed }: Rival, hasFewer: boolean): number {
  if (isDisturbed) return Math.min(EXPLORING.disturbedMs, 2 * everyMs);
  return hasFewer && ratio >= EXPLORING.farBehind
    ? Math.min(EXPLORING.rareMs, 4 * everyMs)
    : Math.min(EXPLORING.lateMs, 2 * everyMs);
}

/**
 * A count that lost in a disturbed trial must be tried again soon, so its trials may take a larger share of the time.
 */
function trialPrice({ isDisturbed }: Rival): number {
  return isDisturbed ? EXPLORING.share / EXPLORING.disturbedShare : 1;
}
