/**
 * Finds the thread count for one sort of native calls while they run: now and then the next step is tried with a
 * neighbouring count, and the better one is kept. What trials lose is bounded by a share of the time that steps take.
 */
import { Credit } from './credit.ts';
import { LikeSteps, MOST_KINDS } from './like-steps.ts';
import { EXPLORING, type SearchLimits } from './limits.ts';

/** A native call about to run. Calls of one kind are compared, by their milliseconds per unit of work. */
export interface PlannedCall {
  readonly kind: string;
  readonly work: number;
  readonly atMs: number;
}

export interface TimedCall extends PlannedCall {
  readonly threads: number;
  readonly ms: number;
  /** Another program took some of the processor meanwhile. */
  readonly isDisturbed: boolean;
}

interface Trial extends Pick<PlannedCall, 'kind'> {
  readonly threads: number;
  /** Of the count in use. */
  readonly typical: number;
  readonly costs: number[];
  lostMs: number;
  waited: number;
  isDisturbed: boolean;
}

/** A count that is not in use. */
interface Rival {
  /** Time of steps between trials, and at which the next one is due. */
  everyMs: number;
  dueMs: number;
  /** How many times the cost of the count in use, when it was last tried. */
  ratio: number;
  lost: boolean;
  /** It lost while another program ran, which says little about the time after that. */
  isDisturbed: boolean;
  known: { readonly kind: string; readonly cost: number; readonly atMs: number } | null;
}

export class CountSearch {
  readonly #counts: readonly number[];
  readonly #limits: SearchLimits;
  readonly #like: LikeSteps;
  readonly #credit: Credit;
  readonly #rivals: readonly Rival[];
  /** By kind: what steps cost when they were first seen, or after the last change. */
  readonly #noted = new Map<string, number>();
  #at: number;
  #trial: Trial | null = null;
  #isDisturbed = false;
  /** Since one was disturbed. */
  #calmSteps = 0;

  constructor(counts: readonly number[], start: number, limits: SearchLimits) {
    this.#counts = counts;
    this.#limits = limits;
    this.#like = new LikeSteps(limits);
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

  /** The count in use, trials apart. */
  get count(): number {
    return this.#counts[this.#at] ?? 1;
  }

  /** Every neighbouring count was tried undisturbed and was no better, since the machine last changed. */
  get isSettled(): boolean {
    const rivals = this.#neighbours().map((at) => this.#rivals[at]);
    // One count alone was never compared.
    return rivals.length > 0 && rivals.every((rival) => rival?.lost === true && !rival.isDisturbed);
  }

  /** For the next call. */
  next(call: PlannedCall): number {
    const typical = this.#like.typical(call.kind, call.atMs);
    if (typical === null) return this.count;
    this.#trial ??= this.#begin(call, typical);
    return this.#trial?.kind === call.kind ? this.#trial.threads : this.count;
  }

  observe(call: TimedCall): void {
    const { kind, ms, atMs, threads } = call;
    this.#credit.earn(ms);
    this.#isDisturbed = call.isDisturbed;
    this.#calmSteps = call.isDisturbed ? 0 : this.#calmSteps + 1;
    if (this.#trial?.kind === kind && this.#trial.threads === threads) return this.#tried(this.#trial, call);
    if (threads !== this.count) return;
    this.#like.add(kind, { cost: ms / call.work, atMs });
    if (this.#trial !== null) this.#trial.waited += 1;
    if (this.#trial !== null && this.#trial.waited > EXPLORING.patienceSteps) this.#trial = null;
    this.#noteChange(kind, atMs);
  }

  /** The machine is another one now: what lost may win. Once other programs leave, only more threads may. */
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
    this.#trial = null;
    this.#like.clear();
    this.#noted.clear();
  }

  #neighbours(): number[] {
    return [this.#at + 1, this.#at - 1].filter((at) => at >= 0 && at < this.#counts.length);
  }

  #begin(call: PlannedCall, typical: number): Trial | null {
    const wanted = this.#neighbours().find((at) => this.#mayWin(at, call, typical));
    if (wanted === undefined) return null;
    const threads = this.#counts[wanted] ?? 1;
    return { kind: call.kind, threads, typical, costs: [], lostMs: 0, waited: 0, isDisturbed: false };
  }

  /** Whether a trial of this count is worth what it may lose. */
  #mayWin(at: number, { kind, work, atMs }: PlannedCall, typical: number): boolean {
    const rival = this.#rivals[at];
    if (rival === undefined) return false;
    if (at < this.#at && this.#limits.keepsAll && !this.#isDisturbed) return false;
    const { known } = rival;
    const isKnown = known !== null && known.kind === kind && atMs - known.atMs <= EXPLORING.knownMs;
    if (isKnown && known.cost < EXPLORING.promising * typical) return true;
    // What is lost beyond one step is owed, or what was very bad once would never be tried again.
    const stake = Math.min(1, Math.max(EXPLORING.leastStake, rival.ratio - 1));
    const stakeMs = stake * typical * work * priceOf(rival);
    return this.#credit.busyMs >= rival.dueMs && this.#credit.affords(stakeMs);
  }

  #tried(trial: Trial, call: TimedCall): void {
    const { ms, work, atMs, isDisturbed } = call;
    const { better, wins, losses } = this.#limits;
    const cost = ms / work;
    trial.costs.push(cost);
    trial.isDisturbed ||= isDisturbed;
    trial.lostMs += ms - trial.typical * work;
    const good = trial.costs.filter((each) => each < better * trial.typical).length;
    if (good >= wins) return this.#won(trial, atMs);
    const isHopeless = cost >= EXPLORING.hopeless * trial.typical;
    if (isHopeless || trial.costs.length - good >= losses) this.#lost(trial, call);
  }

  #won(trial: Trial, atMs: number): void {
    const left = this.#rivals[this.#at];
    this.#credit.pay(trial.lostMs, trial.typical);
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
      left.known = { kind: trial.kind, cost: trial.typical, atMs };
      left.isDisturbed = this.#calmSteps < this.#limits.most;
    }
    this.#like.clear();
    this.#noted.clear();
    for (const cost of trial.costs) this.#like.add(trial.kind, { cost, atMs });
    this.#trial = null;
  }

  #lost(trial: Trial, { work, atMs }: TimedCall): void {
    this.#trial = null;
    const rival = this.#rivals[this.#counts.indexOf(trial.threads)];
    if (rival === undefined) return;
    const cost = Math.max(...trial.costs);
    const hasFewer = trial.threads < this.count;
    rival.lost = true;
    // Company favours fewer threads, so they lose without it too.
    rival.isDisturbed = trial.isDisturbed && !hasFewer;
    rival.ratio = cost / trial.typical;
    rival.known = { kind: trial.kind, cost, atMs };
    rival.dueMs = this.#credit.busyMs + rival.everyMs;
    rival.everyMs = longerInterval(rival, hasFewer);
    this.#credit.pay(trial.lostMs, trial.typical * work, priceOf(rival));
  }

  #noteChange(kind: string, atMs: number): void {
    const typical = this.#like.typical(kind, atMs);
    if (typical === null) return;
    const noted = this.#noted.get(kind);
    if (noted !== undefined && typical < noted * EXPLORING.changed && noted < typical * EXPLORING.changed)
      return;
    if (noted === undefined && this.#noted.size >= MOST_KINDS) this.#noted.clear();
    this.#noted.set(kind, typical);
    if (noted !== undefined) this.reconsider({ othersLeft: false });
  }
}

/** Steps of another speed alone do not make a count good that lost by far, undisturbed, and not for the first time. */
function isFarBehind({ lost, isDisturbed, ratio, everyMs }: Rival): boolean {
  return lost && !isDisturbed && ratio >= EXPLORING.farBehind && everyMs > 2 * EXPLORING.soonMs;
}

/** Until a count that just lost is tried again, milliseconds of steps. */
function longerInterval({ everyMs, ratio, isDisturbed }: Rival, hasFewer: boolean): number {
  if (isDisturbed) return Math.min(EXPLORING.disturbedMs, 2 * everyMs);
  return hasFewer && ratio >= EXPLORING.farBehind
    ? Math.min(EXPLORING.rareMs, 4 * everyMs)
    : Math.min(EXPLORING.lateMs, 2 * everyMs);
}

/** What lost in bad company has to be tried soon again, so such trials may take a larger share of the time. */
function priceOf({ isDisturbed }: Rival): number {
  return isDisturbed ? EXPLORING.share / EXPLORING.disturbedShare : 1;
}
