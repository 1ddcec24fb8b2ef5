/**
 * The planner that ships: weighs each part by what such rows cost before. Every part can be left out, so that a
 * benchmark shows what it buys (bench: planner); DESIGN.md of worker/batch explains them.
 */
import type { PlannerPart } from '../../../contract/load.ts';
import { ChunkSize } from './chunk-size.ts';
import { lingerMs, prefillsFirst } from './coalescing.ts';
import { draftLength } from './draft-length.ts';
import { decodeMs, fillers } from './filler-rows.ts';
import { padChunks } from './padding.ts';
import { chunkPrompts } from './prefill-chunks.ts';
import { cheapestSequence } from './sequence-choice.ts';
import type {
  DecodingSequence,
  EvaluatedCall,
  PlannedRow,
  PrefillingSequence,
  SequenceQuestion,
  StepPlan,
  StepPlanner,
  StepState,
} from './step-planner.ts';
import { StepTimes } from './step-times.ts';
import { ASSUMED_PREFILL_MS_PER_TOKEN, PLAIN_CHUNK_TOKENS } from './tuning.ts';

export interface TunedPlannerOptions {
  readonly numCtx: number;
  /** Rows of one native call (n_batch). */
  readonly mostRows: number;
  readonly maxDraftTokens: number;
  /** KV state can be cut at any token; otherwise neither padding nor a rejected draft can be forgotten. */
  readonly canCut: boolean;
  /** A GPU computes in no such tiles, so padding spares nothing there. */
  readonly onGpu: boolean;
  /** What a decode step of one row took when the thread count was calibrated; null when it was not. */
  readonly calibratedMs: number | null;
  /** Parts left out. */
  readonly without: readonly PlannerPart[];
}

export class TunedPlanner implements StepPlanner {
  readonly maxDraftTokens: number;
  readonly #options: TunedPlannerOptions;
  readonly #chunk: ChunkSize;
  readonly #times = new StepTimes();
  /** Steps in which a prefilling sequence got no chunk, by sequence. */
  #passedOver: ReadonlyMap<number, number> = new Map();

  constructor(options: TunedPlannerOptions) {
    this.#options = options;
    this.maxDraftTokens = options.canCut && this.#has('drafts') ? options.maxDraftTokens : 0;
    this.#chunk = new ChunkSize(options.mostRows);
    if (options.calibratedMs === null) return;
    this.#chunk.observeDecode(options.calibratedMs);
    this.#times.observe([0], options.calibratedMs);
  }

  get prefillMsPerToken(): number {
    return this.#chunk.msPerToken ?? ASSUMED_PREFILL_MS_PER_TOKEN;
  }

  plan({ nowMs, decoding: ready, prefilling, idle }: StepState): StepPlan {
    const pace = { msPerToken: this.#chunk.msPerToken, nowMs };
    const decoding = this.#has('coalescing') && prefillsFirst(ready, prefilling, pace) ? [] : ready;
    // Drafts would delay the prompt that somebody waits for.
    const drafts = prefilling.length === 0 ? this.#draftLength(decoding) : 0;
    const chunks = this.#prefillRows(prefilling, decoding.length > 0);
    // The last token of a prompt that is cached already costs what a decode row does.
    const isSingle = (row: PlannedRow): boolean => rowsOf(row) === 1;
    const decode = [...decoding.map((stream) => decodeRow(stream, drafts)), ...chunks.filter(isSingle)];
    const canFill = ({ position }: StepState['idle'][number]): boolean =>
      position + 1 + drafts < this.#options.numCtx;
    decode.push(...this.#fillers(decode, idle.filter(canFill), drafts));
    return {
      decode: inOrder(decode),
      prefill: inOrder(chunks.filter((row) => !isSingle(row))),
      decodeMs: this.#stepMs(decode.length),
    };
  }

  observe({ phase, rows, ms }: EvaluatedCall): void {
    const total = rows.reduce((sum, row) => sum + rowsOf(row), 0);
    if (phase === 'prefill') return this.#chunk.observePrefill(total, ms);
    this.#chunk.observeDecode(ms);
    const sequences = rows.map(({ sequence }) => sequence);
    const extra = total - rows.length;
    if (extra === 0) return this.#times.observe(sequences, ms);
    this.#times.observeExtraRows({ plainMs: decodeMs(sequences, this.#stepMs), rows: extra, ms });
  }

  chooseSequence(question: SequenceQuestion): number {
    if (!this.#has('sequence-choice')) return question.free[0]?.sequence ?? 0;
    const fills = this.#options.canCut && this.#has('fillers');
    const { prefillMsPerToken } = this;
    return cheapestSequence(question, { prefillMsPerToken, stepMs: this.#stepMs, fills });
  }

  lingerMs(promptTokens: number): number {
    return this.#has('coalescing') ? lingerMs(promptTokens, this.#chunk.msPerToken) : 0;
  }

  #has(part: PlannerPart): boolean {
    return !this.#options.without.includes(part);
  }

  readonly #stepMs = (rows: number): number => this.#times.stepMs(rows);

  /** Draft tokens that each decoding sequence evaluates in this step. */
  #draftLength(decoding: readonly DecodingSequence[]): number {
    const room = decoding.map(({ position }) => this.#options.numCtx - 1 - position);
    const most = Math.min(this.maxDraftTokens, ...room);
    if (most <= 0 || decoding.length === 0) return 0;
    const sequences = decoding.map(({ sequence }) => sequence);
    const prices = { plainMs: decodeMs(sequences, this.#stepMs), extraRowMs: this.#times.extraRowMs };
    return draftLength(decoding, prices, most);
  }

  #prefillRows(prefilling: readonly PrefillingSequence[], decoding: boolean): PlannedRow[] {
    const passedOver = (sequence: number): number => this.#passedOver.get(sequence) ?? 0;
    const waiting = prefilling.map((prompt) => ({ ...prompt, passedOver: passedOver(prompt.sequence) }));
    const budget = this.#has('chunk-size') ? this.#chunk.budget(decoding) : PLAIN_CHUNK_TOKENS;
    // Nothing may exceed the budget as long as the price of a row is unknown.
    const mostRows = this.#chunk.msPerToken === null ? budget : this.#options.mostRows;
    const chunks = padChunks(chunkPrompts(waiting, { budget, mostRows, idle: !decoding }), waiting, {
      mostRows,
      padWithin: this.#padWithin,
      rowMs: this.prefillMsPerToken,
      passMs: this.#stepMs(1),
    });
    const left = waiting.filter((prompt) => !chunks.some(({ sequence }) => sequence === prompt.sequence));
    this.#passedOver = new Map(left.map((prompt) => [prompt.sequence, prompt.passedOver + 1]));
    return chunks.map((chunk) => ({ kind: 'prefill', ...chunk }));
  }

  get #padWithin(): number {
    const { canCut, onGpu, numCtx } = this.#options;
    return canCut && !onGpu && this.#has('padding') ? numCtx : 0;
  }

  #fillers(decode: readonly PlannedRow[], idle: StepState['idle'], drafts: number): PlannedRow[] {
    if (!this.#has('fillers')) return [];
    const sequences = decode.map(({ sequence }) => sequence).sort((a, b) => a - b);
    const fillable = new Set(idle.map(({ sequence }) => sequence));
    const filled = fillers(sequences, (sequence) => fillable.has(sequence), this.#stepMs);
    return filled.map((sequence) => ({ kind: 'filler', sequence, tokens: 1, padding: drafts }));
  }
}

/** The sampled token with its drafts; what prompt lookup has no draft for is padding. */
function decodeRow({ sequence, draftTokens }: DecodingSequence, drafts: number): PlannedRow {
  const drafted = Math.min(draftTokens, drafts);
  return { kind: 'decode', sequence, tokens: 1 + drafted, padding: drafts - drafted };
}

function rowsOf({ tokens, padding }: PlannedRow): number {
  return tokens + padding;
}

function inOrder(rows: readonly PlannedRow[]): PlannedRow[] {
  return [...rows].sort((a, b) => a.sequence - b.sequence);
}
