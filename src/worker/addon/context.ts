/** A context of node-llama-cpp behind the page. */
import type { LlamaContext } from 'node-llama-cpp';
import type { AddonCheckpoint, AddonContext } from './bindings.ts';
import { addonContext, newAddonCheckpoint } from './internals.ts';
import type {
  Logits,
  LogitsWanted,
  NativeCheckpoint,
  NativeContext,
  NativeProbe,
  NativeSampler,
  TokenLogit,
} from './native.ts';
import { addonSamplerOf } from './sampler-handle.ts';

/** To the end of the sequence. */
const END = -1;

export class ContextHandle implements NativeContext {
  readonly numCtx: number;
  readonly batchTokens: number;
  readonly flashAttention: boolean;
  readonly #context: LlamaContext;
  readonly #addon: AddonContext;

  constructor(context: LlamaContext) {
    this.#context = context;
    this.#addon = addonContext(context);
    this.numCtx = context.contextSize;
    this.batchTokens = context.batchSize;
    this.flashAttention = context.flashAttention === true;
  }

  memoryBytes(): number {
    const { cpuRam, gpuVram } = this.#addon.getMemoryBreakdown();
    return cpuRam + gpuVram;
  }

  setThreads(threads: number): void {
    this.#addon.setThreads(threads);
  }

  getThreads(): number {
    return this.#addon.getThreads();
  }

  initBatch(tokens: number): void {
    this.#addon.initBatch(tokens);
  }

  addToBatch(
    sequence: number,
    firstPosition: number,
    tokens: Uint32Array,
    logitsOf: Uint32Array,
  ): Uint32Array {
    return this.#addon.addToBatch(sequence, firstPosition, tokens, logitsOf);
  }

  decodeBatch(): Promise<void> {
    return this.#addon.decodeBatch();
  }

  async sample(batchRow: number, sampler: NativeSampler): Promise<number | null> {
    const token = await this.#addon.sampleToken(batchRow, addonSamplerOf(sampler));
    return token < 0 ? null : token;
  }

  async readLogits(batchRow: number, probe: NativeProbe, wanted: LogitsWanted): Promise<Logits> {
    const filter = [wanted.tokens, false, false, false, wanted.largest] as const;
    const addon = addonSamplerOf(probe);
    const [, , , pairs, totalWeight] = await this.#addon.sampleToken(
      batchRow,
      addon,
      false,
      false,
      filter,
      true,
    );
    return { of: paired(pairs), totalWeight };
  }

  embedding(tokens: number): Float64Array {
    return this.#addon.getEmbedding(tokens);
  }

  cutSequence(sequence: number, length: number): boolean {
    return this.#addon.removeTokenCellsFromSequence(sequence, length, END);
  }

  clearSequence(sequence: number): void {
    this.#addon.disposeSequence(sequence);
  }

  async copySequence(target: number, source: number): Promise<void> {
    await this.#addon.copySequenceStateFromOtherSequence(target, source);
  }

  firstPosition(sequence: number): number {
    return this.#addon.getSequenceKvCacheMinPosition(sequence);
  }

  async takeCheckpoint(sequence: number): Promise<NativeCheckpoint> {
    const checkpoint = newAddonCheckpoint(this.#context.model);
    await checkpoint.init(this.#addon, sequence);
    return new CheckpointHandle(checkpoint);
  }

  async restoreCheckpoint(checkpoint: NativeCheckpoint, sequence: number): Promise<boolean> {
    if (!(checkpoint instanceof CheckpointHandle))
      throw new Error('the checkpoint is not one of this library');
    return this.#addon.restoreCheckpoint(checkpoint.addon, checkpoint.lastPosition, sequence);
  }

  async dispose(): Promise<void> {
    await this.#context.dispose();
  }
}

class CheckpointHandle implements NativeCheckpoint {
  readonly addon: AddonCheckpoint;

  constructor(addon: AddonCheckpoint) {
    this.addon = addon;
  }

  get lastPosition(): number {
    return this.addon.maxPos;
  }

  dispose(): void {
    this.addon.dispose();
  }
}

/** Token and logit lie flat, one behind the other. */
function paired(flat: readonly number[]): TokenLogit[] {
  const pairs: TokenLogit[] = [];
  for (let i = 0; i + 1 < flat.length; i += 2) pairs.push({ token: flat[i] ?? 0, logit: flat[i + 1] ?? 0 });
  return pairs;
}
