/**
 * worker/threads owns how many threads each native call of the batch loop uses. The count that a load begins with is
 * only a guess: steps are watched while they run, because other programs come and go. It is pure but for
 * processor-use.ts: clock and processor times are passed in. It knows nothing of contexts, jobs or models.
 */
import { CountSearch, type PlannedCall } from './count-search.ts';
import { DECODE_SEARCH, MACHINE, PREFILL_SEARCH } from './limits.ts';

/** A native call about to run. */
export interface CallShape {
  readonly phase: 'decode' | 'prefill';
  readonly rows: number;
  readonly sequences: number;
  /** Position of the rows in their sequences, on average. */
  readonly depth: number;
  readonly atMs: number;
}

export interface CallTimes extends CallShape {
  readonly threads: number;
  readonly ms: number;
  /** Processor time of this process meanwhile. */
  readonly cpuMs: number;
  /** Cores that other programs used lately; null where nobody says. */
  readonly othersCores: number | null;
}

export interface Counts {
  /** In ascending order; one alone is pinned. */
  readonly counts: readonly number[];
  readonly start: number;
}

export class ThreadChoice {
  readonly #decode: CountSearch;
  readonly #prefill: CountSearch;
  #others: number | null = null;
  /** Time of undisturbed decode steps since the last change. */
  #quietMs = 0;
  #quietCount: number;
  #disturbed = 0;

  constructor({ counts, start }: Counts) {
    this.#decode = new CountSearch(counts, start, DECODE_SEARCH);
    // Threads hardly wait for each other in a prefill, so all cores are best even where two threads decode no faster.
    this.#prefill = new CountSearch(counts, Math.max(...counts), PREFILL_SEARCH);
    this.#quietCount = start;
  }

  /** Threads of decode steps, trials apart. */
  get decodeThreads(): number {
    return this.#decode.count;
  }

  /** The count is worth beginning another load with: it was found on a quiet machine, and its neighbours are no better. */
  get isConfirmed(): boolean {
    return this.#quietMs >= MACHINE.confirmMs && this.#decode.isSettled;
  }

  threadsFor(call: CallShape): number {
    return isLong(call) ? this.#prefill.next(longCall(call)) : this.#decode.next(shortCall(call));
  }

  observe(call: CallTimes): void {
    this.#watchOthers(call);
    const { ms, threads } = call;
    const isDisturbed = !isQuiet(call);
    if (isLong(call)) return this.#prefill.observe({ ...longCall(call), ms, threads, isDisturbed });
    this.#decode.observe({ ...shortCall(call), ms, threads, isDisturbed });
    this.#countQuiet(ms, isDisturbed);
  }

  #watchOthers({ othersCores }: CallTimes): void {
    if (othersCores === null) return;
    const before = this.#others ?? othersCores;
    this.#others ??= othersCores;
    if (Math.abs(othersCores - before) < MACHINE.othersChanged) return;
    this.#others = othersCores;
    // When other programs leave, what was lost while they ran says nothing any more.
    const othersLeft = othersCores < before;
    this.#decode.reconsider({ othersLeft });
    this.#prefill.reconsider({ othersLeft });
  }

  /** One disturbed step is an accident; the second in a row is another program. */
  #countQuiet(ms: number, isDisturbed: boolean): void {
    this.#disturbed = isDisturbed ? this.#disturbed + 1 : 0;
    if (this.#disturbed > 1 || this.#quietCount !== this.decodeThreads) this.#quietMs = 0;
    else if (!isDisturbed) this.#quietMs += ms;
    this.#quietCount = this.decodeThreads;
  }
}

function isQuiet({ ms, cpuMs, threads, othersCores }: CallTimes): boolean {
  return cpuMs >= MACHINE.quietShare * threads * ms && (othersCores ?? 0) <= MACHINE.othersQuiet;
}

const isLong = ({ phase, rows }: CallShape): boolean => phase === 'prefill' && rows >= MACHINE.prefillRows;

/** What decodes costs by the number of rows and sequences, and slowly more with depth. */
function shortCall({ rows, sequences, depth, atMs }: CallShape): PlannedCall {
  const reach = Math.floor(4 * Math.log2(1 + depth / MACHINE.depthStep));
  return { kind: `${rows} ${sequences} ${reach}`, work: 1, atMs };
}

/** A chunk costs by its rows, each of them by its depth. */
function longCall({ rows, depth, atMs }: CallShape): PlannedCall {
  const work = rows * (1 + depth / MACHINE.prefillDoublesAt);
  return { kind: `${Math.round(Math.log2(rows))}`, work, atMs };
}
