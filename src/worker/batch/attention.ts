/** Switches a context between flash attention and plain attention, and converts the state of all sequences. */
import { kvTypes } from '../../contract/settings/kv-types.ts';
import type { AttentionOptions } from '../native.ts';
import type { ChatModel } from '../model.ts';
import type { Outbox } from '../outbox.ts';
import type { Stream } from './stream/stream.ts';
import type { AttentionKind, CostModel } from './planning/cost-model.ts';
import { AttentionChoice, type StreamWork } from './attention-choice.ts';

/** For this number of rows, the scores of all heads take about as much memory as flash attention does for 512. */
const PLAIN_ROWS = 32;

const OPTIONS: Readonly<Record<AttentionKind, AttentionOptions>> = {
  flash: { flashAttention: true, microBatchTokens: null },
  plain: { flashAttention: false, microBatchTokens: PLAIN_ROWS },
};

const LIMITS = {
  /** Chosen: longest pause of one answer, and of several: as long as the deepest tile of a prompt may take. */
  mostMs: 8_000,
  mostWithOthersMs: 3_000,
  /** Chosen: share of free memory that the copies may take. */
  memoryShare: 0.5,
  /** Measured, bench/LOG.md, "attention by depth": rate at which state is copied out, converted and copied in. */
  movedBytesPerMs: 400_000,
  /** Measured there too: rate at which a KV cache is allocated and cleared. */
  openedBytesPerMs: 1_500_000,
  /** Chosen: weight of the last change's cost. */
  weight: 0.5,
} as const;

/** Types whose values are not blocks, so that state can be converted. */
const TURNABLE: readonly string[] = ['f16', 'bf16', 'f32'];

/** False unless the model runs on a CPU, its state can be moved, and no setting or benchmark fixes the attention. */
export function choosesAttention({ spec, facts, prefixReuse, exact, mediaInput }: ChatModel): boolean {
  const { settings, planner } = spec;
  const isLeftOut = planner?.kind === 'plain' || planner?.without.includes('attention') === true;
  const isAuto = (settings.flashAttention ?? 'auto') === 'auto';
  const { v } = kvTypes(settings);
  return (
    exact === undefined &&
    // An image may have to be evaluated in one piece, and plain attention takes few rows at a time.
    mediaInput === undefined &&
    isAuto &&
    !isLeftOut &&
    facts.gpuLayers === 0 &&
    prefixReuse === 'full' &&
    TURNABLE.includes(v)
  );
}

interface Attended {
  readonly cellsInUse: number;
  readonly fitsApart: boolean;
  evaluateEmpty(): boolean;
  attend(attention: AttentionOptions): readonly number[];
}

interface AttentionPorts {
  readonly sequences: Attended;
  readonly costs: CostModel;
  readonly outbox: Pick<Outbox, 'beforeNativeCall' | 'post'>;
}

export class Attention {
  readonly #chat: ChatModel;
  readonly #ports: AttentionPorts;
  #choice: AttentionChoice | null;
  readonly #bytesPerCell: number;
  /** Actual / estimated cost of a change. */
  #slowness = 1;

  constructor(chat: ChatModel, ports: AttentionPorts) {
    this.#chat = chat;
    this.#ports = ports;
    const { sequences: slots, numCtx, contextBytes } = chat.facts;
    this.#choice = choosesAttention(chat) ? new AttentionChoice(ports.costs) : null;
    this.#bytesPerCell = contextBytes / (chat.sharedCells ?? slots * numCtx);
  }

  consider(streams: readonly Stream[]): readonly Stream[] {
    const choice = this.#choice;
    if (choice === null || streams.length === 0) return [];
    const { sequences } = this.#ports;
    const cells = sequences.cellsInUse;
    const work = streams.map(remainingWork);
    if (choice.wantsEmpty(work)) this.#measureEmpty();
    choice.countStep(work, cells);
    const estimatedMs = this.#changeMs(cells);
    const changeMs = estimatedMs * this.#slowness;
    if (changeMs > (streams.length === 1 ? LIMITS.mostMs : LIMITS.mostWithOthersMs)) return [];
    if (!choice.isWorthChanging({ streams: work, cells, changeMs })) return [];
    const isRoom = cells * this.#bytesPerCell <= process.availableMemory() * LIMITS.memoryShare;
    if (!isRoom || !sequences.fitsApart) return [];
    return this.#change(choice, streams, estimatedMs);
  }

  #measureEmpty(): void {
    const { sequences, costs } = this.#ports;
    // The first call of another shape takes longer, so the second is measured.
    if (!sequences.evaluateEmpty()) return;
    const begunMs = performance.now();
    sequences.evaluateEmpty();
    costs.observe({ phase: 'decode', rows: 1, cells: 0 }, performance.now() - begunMs);
  }

  #change(choice: AttentionChoice, streams: readonly Stream[], estimatedMs: number): readonly Stream[] {
    const { sequences, outbox } = this.#ports;
    // Events of sampled tokens must not wait for the change.
    outbox.beforeNativeCall(estimatedMs * this.#slowness);
    const begunMs = performance.now();
    const lost = sequences.attend(OPTIONS[choice.now === 'flash' ? 'plain' : 'flash']);
    const ms = performance.now() - begunMs;
    const flash = this.#chat.context.flashAttention;
    if (flash === (choice.now === 'plain')) {
      choice.changed();
      outbox.post({ type: 'attention', flash, ms, tokens: sequences.cellsInUse });
    } else {
      this.#choice = null;
    }
    this.#slowness += LIMITS.weight * (ms / Math.max(1, estimatedMs) - this.#slowness);
    return streams.filter(({ sequence }) => lost.includes(sequence));
  }

  #changeMs(cells: number): number {
    const { contextBytes } = this.#chat.facts;
    return (cells * this.#bytesPerCell) / LIMITS.movedBytesPerMs + contextBytes / LIMITS.openedBytesPerMs;
  }
}

function remainingWork(stream: Stream): StreamWork {
  const { position, remaining, output } = stream;
  return {
    depth: position,
    toRead: remaining,
    mayWrite: output.tokensLeft,
    written: output.tokens.length,
  };
}
