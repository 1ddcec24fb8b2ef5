import { kMaxLength } from 'node:buffer';
import koffi from 'koffi';
import { applyAdapters } from './adapter.ts';
import { pickLogits } from './sampling/candidates.ts';
import type { Pointer } from './library/layouts.ts';
import { lending, onThread } from './library/on-thread.ts';
import type { Library } from './library/open.ts';
import type { MemoryReader } from './memory.ts';
import type { DeviceBytes } from '../../contract/memory.ts';
import type {
  AttentionOptions,
  ScaledAdapter,
  Logits,
  LogitsWanted,
  MediumRows,
  NativeCheckpoint,
  NativeContext,
  NativeSampler,
  Pooling,
} from '../native.ts';
import { mediumBatch, NativeBatch } from './native-batch.ts';
import { SamplerHandle } from './sampling/sampler-handle.ts';

const END = -1;
/** LLAMA_STATE_SEQ_FLAGS_NONE: the whole state. */
const WHOLE = 0;
/** LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY: the part of the state that later tokens overwrite. */
const PARTIAL = 1;
const NOTHING = new Uint8Array();
const NO_ROOM = 1;

interface OpenContext {
  readonly library: Library;
  readonly pointer: Pointer;
  readonly vocabularySize: number;
  readonly rowWidth: number;
  readonly embeddingWidth: number;
  readonly attention: AttentionOptions;
  readonly openAgain: (attention: AttentionOptions) => Pointer;
  readonly pooling: Pooling;
  readonly embeddings: boolean;
  readonly logitRows: number | null;
  readonly readMemory: MemoryReader;
  /** A sequence that shares the cells of the others and is never decoded; null if there is none left. */
  readonly spareSequence: number | null;
}

export class ContextHandle implements NativeContext {
  readonly numCtx: number;
  readonly batchTokens: number;
  readonly pooling: Pooling;
  readonly appendsState: boolean;
  readonly #open: OpenContext;
  readonly #library: Library;
  readonly #batch: NativeBatch;
  #context: Pointer;
  #memory: Pointer;
  #attention: AttentionOptions;
  #adapters: readonly ScaledAdapter[] = [];
  readonly #views = new Map<Pointer, Float32Array>();
  /** Memory of a dropped checkpoint: memory that was used before is filled several times as fast as new memory. */
  #spare: Uint8Array = NOTHING;
  #threads: number | null = null;

  constructor(open: OpenContext) {
    this.#open = open;
    this.#library = open.library;
    this.#context = open.pointer;
    this.#memory = open.library.llama_get_memory(open.pointer);
    this.numCtx = open.library.llama_n_ctx_seq(open.pointer);
    this.batchTokens = open.library.llama_n_batch(open.pointer);
    this.#attention = open.attention;
    this.pooling = open.pooling;
    this.appendsState = open.spareSequence !== null;
    this.#batch = new NativeBatch(open.library, this.batchTokens, open.logitRows ?? this.batchTokens);
  }

  get flashAttention(): boolean {
    return this.#attention.flashAttention ?? true;
  }

  memory(): readonly DeviceBytes[] {
    return this.#open.readMemory(this.#context) ?? [];
  }

  setThreads(threads: number): void {
    if (threads === this.#threads) return;
    this.#threads = threads;
    this.#library.llama_set_n_threads(this.#context, threads, threads);
  }

  getThreads(): number {
    return this.#library.llama_n_threads(this.#context);
  }

  setAdapters(adapters: readonly ScaledAdapter[]): void {
    this.#adapters = adapters;
    applyAdapters(this.#library, this.#context, adapters);
  }

  initBatch(tokens: number): void {
    this.#batch.clear(tokens);
  }

  addToBatch(
    sequence: number,
    firstPosition: number,
    tokens: Uint32Array,
    wantedLogits: Uint32Array,
  ): Uint32Array {
    // An embedding is pooled from all tokens of its input.
    const outputs = this.#open.embeddings ? Uint32Array.from(tokens.keys()) : wantedLogits;
    return this.#batch.add({ sequence, firstPosition, tokens, wantedLogits: outputs });
  }

  decodeRows({ sequence, values, positions, isWhole }: MediumRows): void {
    const rows = mediumBatch(values, this.#open.rowWidth, { sequence, positions });
    // The setting applies to the whole context, so no other sequence may be in the call.
    if (isWhole) this.#library.llama_set_causal_attn(this.#context, false);
    try {
      checkDecoded(lending(() => this.#library.llama_decode(this.#context, rows.batch)));
    } finally {
      if (isWhole) this.#library.llama_set_causal_attn(this.#context, true);
    }
  }

  decodeBatch(): void {
    checkDecoded(this.#library.llama_decode(this.#context, this.#batch.filled));
  }

  async decodeOnThread(): Promise<void> {
    const { llama_decode: decode } = this.#library;
    checkDecoded(await onThread<number>((done) => decode.async(this.#context, this.#batch.filled, done)));
  }

  sample(batchRow: number, sampler: NativeSampler): number | null {
    if (!(sampler instanceof SamplerHandle)) throw new Error('the sampler is not one of this library');
    return sampler.choose(this.#logits(batchRow));
  }

  readLogits(batchRow: number, wanted: LogitsWanted): Logits {
    return pickLogits(this.#logits(batchRow), wanted);
  }

  embedding(sequence: number): Float32Array {
    const { llama_get_embeddings_seq: ofSequence, llama_get_embeddings_ith: ofRow } = this.#library;
    // A file without pooling has an embedding per token; the last one represents the input.
    const found = ofSequence(this.#context, sequence) ?? ofRow(this.#context, this.#batch.lastRow(sequence));
    if (found === null) throw new Error('the model gave no embedding');
    return new Float32Array(koffi.view(found, this.#open.embeddingWidth * 4)).slice();
  }

  cutSequence(sequence: number, length: number): boolean {
    return this.#library.llama_memory_seq_rm(this.#memory, sequence, length, END);
  }

  clearSequence(sequence: number): void {
    this.#library.llama_memory_seq_rm(this.#memory, sequence, 0, END);
  }

  copySequence(target: number, source: number): void {
    this.clearSequence(target);
    this.#library.llama_memory_seq_cp(this.#memory, source, target, 0, END);
  }

  firstPosition(sequence: number): number {
    return this.#library.llama_memory_seq_pos_min(this.#memory, sequence);
  }

  sequenceBytes(sequence: number): number {
    return this.#library.llama_state_seq_get_size_ext(this.#context, sequence, WHOLE);
  }

  saveSequence(sequence: number): Uint8Array | null {
    const size = this.sequenceBytes(sequence);
    if (size === 0 || size > kMaxLength) return null;
    const state = Buffer.allocUnsafeSlow(size);
    const written = this.#library.llama_state_seq_get_data_ext(this.#context, state, size, sequence, WHOLE);
    return written === size ? state : null;
  }

  loadSequence(sequence: number, state: Uint8Array): boolean {
    const { llama_state_seq_set_data_ext: restore } = this.#library;
    if (restore(this.#context, state, state.length, sequence, WHOLE) === state.length) return true;
    this.clearSequence(sequence);
    return false;
  }

  appendSequence(sequence: number, state: Uint8Array): boolean {
    const { llama_state_seq_set_data_ext: restore, llama_memory_seq_cp: share } = this.#library;
    const { spareSequence } = this.#open;
    if (spareSequence === null) return false;
    // Loading replaces the whole sequence, so the part goes through a sequence of its own.
    const isRead = restore(this.#context, state, state.length, spareSequence, WHOLE) === state.length;
    if (isRead) share(this.#memory, spareSequence, sequence, 0, END);
    this.clearSequence(spareSequence);
    return isRead;
  }

  takeCheckpoint(sequence: number): NativeCheckpoint {
    const lastPosition = this.#library.llama_memory_seq_pos_max(this.#memory, sequence);
    if (lastPosition < 0) return new CheckpointHandle(-1, NOTHING, () => {});
    const size = this.#library.llama_state_seq_get_size_ext(this.#context, sequence, PARTIAL);
    const buffer = this.#takeSpare(size);
    const state = buffer.subarray(0, size);
    const written = this.#library.llama_state_seq_get_data_ext(this.#context, state, size, sequence, PARTIAL);
    if (size === 0 || written !== size) throw new Error('the state of a sequence could not be copied');
    return new CheckpointHandle(lastPosition, state, () => {
      if (buffer.length > this.#spare.length) this.#spare = buffer;
    });
  }

  #takeSpare(bytes: number): Uint8Array {
    const spare = this.#spare;
    if (spare.length < bytes) return new Uint8Array(bytes);
    this.#spare = NOTHING;
    return spare;
  }

  restoreCheckpoint(checkpoint: NativeCheckpoint, sequence: number): boolean {
    if (!(checkpoint instanceof CheckpointHandle))
      throw new Error('the checkpoint is not one of this library');
    const { state, lastPosition } = checkpoint;
    if (lastPosition < 0) return this.cutSequence(sequence, 0);
    const { llama_state_seq_set_data_ext: restore, llama_memory_seq_pos_max: last } = this.#library;
    if (restore(this.#context, state, state.length, sequence, PARTIAL) !== state.length) return false;
    return this.cutSequence(sequence, lastPosition + 1) && last(this.#memory, sequence) === lastPosition;
  }

  reopen(attention: AttentionOptions): void {
    // Two contexts at once would double the memory of the KV cache.
    this.#library.llama_free(this.#context);
    this.#views.clear();
    try {
      this.#replace(attention);
    } catch (error) {
      this.#replace(this.#attention);
      throw error;
    }
  }

  dispose(): void {
    this.#views.clear();
    this.#batch.dispose();
    this.#library.llama_free(this.#context);
  }

  #replace(attention: AttentionOptions): void {
    this.#context = this.#open.openAgain(attention);
    this.#memory = this.#library.llama_get_memory(this.#context);
    this.#attention = attention;
    if (this.#threads !== null)
      this.#library.llama_set_n_threads(this.#context, this.#threads, this.#threads);
    if (this.#adapters.length > 0) applyAdapters(this.#library, this.#context, this.#adapters);
  }

  #logits(batchRow: number): Float32Array {
    const address = this.#library.llama_get_logits_ith(this.#context, batchRow);
    if (address === null) throw new Error(`row ${batchRow} of the batch has no logits`);
    const known = this.#views.get(address);
    if (known !== undefined) return known;
    const view = new Float32Array(koffi.view(address, this.#open.vocabularySize * 4));
    this.#views.set(address, view);
    return view;
  }
}

class CheckpointHandle implements NativeCheckpoint {
  readonly lastPosition: number;
  state: Uint8Array;
  readonly #release: () => void;

  constructor(lastPosition: number, state: Uint8Array, release: () => void) {
    this.lastPosition = lastPosition;
    this.state = state;
    this.#release = release;
  }

  dispose(): void {
    if (this.state.length > 0) this.#release();
    this.state = NOTHING;
  }
}

function checkDecoded(result: number): void {
  if (result === 0) return;
  throw new Error(
    result === NO_ROOM ? 'the KV cache has no room for the batch' : `llama_decode failed with ${result}`,
  );
}
