/**
 * worker/threads owns the number of threads of each native call of the batch loop. The first count of a load is only
 * a guess: steps are watched while they run, because other programs come and go. It is pure except for
 * processor-use.ts: clock and CPU times are passed in. It knows nothing of contexts, jobs or models.
 */
import { CountSearch, type PlannedCall } from './count-search.ts';
import { DECODE_SEARCH, MACHINE, PREFILL_SEARCH } from './limits.ts';

export interface CallShape {
  readonly phase: 'decode' | 'prefill';
  readonly rows: number;
  readonly depth: number;
  readonly atMs: number;
}

interface CallTimes extends CallShape {
  readonly threads: number;
  readonly ms: number;
  readonly cpuMs: number;
  readonly othersCores: number | null;
}

interface Counts {
  readonly counts: readonly number[];
  readonly start: number;
}

export class ThreadChoice {
  readonly #decode: CountSearch;
  readonly #prefill: CountSearch;
  #others: number | null = null;
  #quietMs = 0;
  #quietCount: number;
  #disturbed = 0;

  constructor({ counts, start }: Counts) {
    this.#decode = new CountSearch(counts, start, DECODE_SEARCH);
    // Threads hardly wait for each other in a prefill, so all cores are best even if two threads decode no faster.
    this.#prefill = new CountSearch(counts, Math.max(...counts), PREFILL_SEARCH);
    this.#quietCount = start;
  }

  get decodeThreads(): number {
    return this.#decode.count;
  }

  /** Another load may begin with this count: it was found on a quiet machine, and its neighbours are no better. */
  get isConfirmed(): boolean {
    return this.#quietMs >= MACHINE.confirmMs && this.#decode.isSettled;
  }

  threadsFor(call: CallShape): number {
    return isLong(call) ? this.#prefill.next(planned(call)) : this.#decode.next(planned(call));
  }

  observe(call: CallTimes): void {
    this.#watchOthers(call);
    const { ms, threads } = call;
    const isDisturbed = !isQuiet(call);
    if (isLong(call)) return this.#prefill.observe({ ...planned(call), ms, threads, isDisturbed });
    this.#decode.observe({ ...planned(call), ms, threads, isDisturbed });
    this.#countQuiet(ms, isDisturbed);
  }

  #watchOthers({ othersCores }: CallTimes): void {
    if (othersCores === null) return;
    const before = this.#others ?? othersCores;
    this.#others ??= othersCores;
    if (Math.abs(othersCores - before) < MACHINE.othersChanged) return;
    this.#others = othersCores;
    // When other programs end, losses while they ran no longer count.
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

/** Few rows of a prompt take as long as decode rows; deep rows of many as long as more rows at the beginning. */
function planned(call: CallShape): PlannedCall {
  const { rows, depth, atMs } = call;
  if (!isLong(call)) return { phase: 'decode', rows, cells: depth, atMs };
  return { phase: 'prefill', rows: rows * (1 + depth / MACHINE.prefillDoublesAt), cells: 0, atMs };
}
