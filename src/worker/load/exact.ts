/**
 * Checks with the model's weights that this library on this CPU keeps the rules of an exact load. The rules were
 * found on some CPUs, and a load must not promise what another one does not do. A reference never shares a call, so
 * the result decides speed and refusals, but no bit of an answer.
 */
import { createHash } from 'node:crypto';
import type { LoadSpec } from '../../contract/load.ts';
import type { ExactSteps } from '../../contract/settings/exact-rules.ts';
import { LOAD_SETTINGS } from '../../contract/settings/load-settings.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { readMatrixTypes } from '../../lib/gguf/inspect.ts';
import { partFiles } from '../../../packages/gguf/src/format/parts.ts';
import type { NativeBackend, NativeContext, PastState } from '../native.ts';
import type { Vocabulary } from '../prompt/vocabulary.ts';
import { usesDevices } from './load-options.ts';

interface ExactLoadFacts {
  readonly context: NativeContext;
  readonly spec: Pick<LoadSpec, 'modelId' | 'parallel' | 'adapters'>;
  readonly vocabulary: Pick<Vocabulary, 'size'>;
  readonly past: PastState;
  /** All matrices are in blocks, whose products of one row and of several have the same bits. */
  readonly quantised: boolean;
}

const FLOAT_TYPES = ['F64', 'F32', 'F16', 'BF16'];

/** Rows that the known kernels compute together: pairs, threes, fours and eights. */
const SHARED_CALLS = [2, 3, 4, 8];
/**
 * One prompt whole, and in tiles of even and odd sizes on both sides of 8 and of 32 rows, where libraries change
 * kernels.
 */
const TILES = [2, 3, 7, 24];
const PROMPT_TOKENS = TILES.reduce((sum, rows) => sum + rows);
const SHORT_PROMPT = 3;
const MOST_READ = 64;

/** The library reads it at the first product of an IQ type. */
const NO_PANELS = 'GGML_NO_IQ_PANEL';

/** Call before the model is opened. Throws `load_setting_unusable` if this machine cannot keep the rules. */
export async function prepareExact(
  backend: NativeBackend,
  { modelId, path, settings }: LoadSpec,
): Promise<void> {
  if (usesDevices(backend, settings))
    throw unusable(modelId, 'exact=on works on the CPU only, and the model may use a GPU here; set gpu=off');
  process.env[NO_PANELS] = '1';
  if (process.platform !== 'win32') return;
  // On Windows, the library does not see variables that are set later.
  const panelled = [...(await allMatrixTypes(path))].find((type) => /^IQ(?:[123]|4_XS)/.test(type));
  if (panelled === undefined) return;
  throw unusable(
    modelId,
    `on Windows, weights of type ${panelled} are computed otherwise from eight rows on`,
  );
}

export async function isQuantisedModel(path: string): Promise<boolean> {
  const types = await allMatrixTypes(path);
  return !FLOAT_TYPES.some((type) => types.has(type));
}

async function allMatrixTypes(path: string): Promise<ReadonlySet<string>> {
  const types = await Promise.all(partFiles(path).map((part) => readMatrixTypes(part)));
  return new Set(types.flatMap((each) => [...each]));
}

/** Throws `load_setting_unusable` if bits depend on how prompts are evaluated or on the number of threads. */
export function provenSteps({ context, spec, vocabulary, past, quantised }: ExactLoadFacts): ExactSteps {
  if (past.holds === 'summary' && past.also !== undefined) {
    const reason = 'it has recurrent layers beside a sliding window, whose state comes back in other cells';
    throw unusable(spec.modelId, reason);
  }
  const trial = new Trial(context, vocabulary.size);
  const threads = context.getThreads();
  if (trial.prompt([PROMPT_TOKENS]) !== trial.prompt(TILES))
    throw unusable(spec.modelId, 'on this processor, logits depend on how a prompt is divided');
  if (spec.parallel > 1 && !trial.keepsBitsOfPrompts())
    throw unusable(spec.modelId, 'on this processor, logits depend on prompts that are evaluated beside');
  const alone = trial.decoded(1);
  if (threads > 1) {
    context.setThreads(1);
    const onOne = trial.decoded(1);
    context.setThreads(threads);
    if (onOne[0] !== alone[0])
      throw unusable(spec.modelId, 'on this processor, logits depend on the number of threads');
  }
  // Adapters are float matrices, whatever the model's own weights are.
  const mayShare = quantised && spec.adapters.length === 0 && spec.parallel > 1;
  return { together: mayShare && trial.keepsBitsTogether(spec.parallel) };
}

interface Part {
  readonly sequence: number;
  readonly position: number;
  readonly rows: number;
}

class Trial {
  readonly #context: NativeContext;
  readonly #tokens: number;

  constructor(context: NativeContext, tokens: number) {
    this.#context = context;
    this.#tokens = tokens;
  }

  prompt(tiles: readonly number[]): string {
    let position = 0;
    let digest = '';
    for (const rows of tiles) {
      digest = this.#evaluate([{ sequence: 0, position, rows }])[0] ?? '';
      position += rows;
    }
    this.#context.clearSequence(0);
    return digest;
  }

  /** The logits of one token in each of this number of sequences, after a short prompt of its own. */
  decoded(sequences: number, together = false): string[] {
    const all = Array.from({ length: sequences }, (_, sequence) => sequence);
    for (const sequence of all) this.#evaluate([{ sequence, position: 0, rows: SHORT_PROMPT }]);
    const rows = all.map((sequence) => ({ sequence, position: SHORT_PROMPT, rows: 1 }));
    const found = together ? this.#evaluate(rows) : rows.flatMap((row) => this.#evaluate([row]));
    this.#clear(rows);
    return found;
  }

  /** Two prompts, alone and with their beginnings in one call; ends in one call are tested separately. */
  keepsBitsOfPrompts(): boolean {
    const begins = [0, 1].map((sequence) => ({ sequence, position: 0, rows: SHORT_PROMPT }));
    const ends = begins.map((prompt) => ({ ...prompt, position: SHORT_PROMPT }));
    const [alone, together] = [begins.map((prompt) => [prompt]), [begins]].map((calls) => {
      for (const call of calls) this.#fill(call, false);
      const found = ends.flatMap((prompt) => this.#evaluate([prompt]));
      this.#clear(ends);
      return found;
    });
    return together?.every((digest, sequence) => digest === alone?.[sequence]) === true;
  }

  keepsBitsTogether(parallel: number): boolean {
    const alone = this.decoded(Math.min(parallel, Math.max(...SHARED_CALLS)));
    return SHARED_CALLS.filter((count) => count <= parallel).every((count) =>
      this.decoded(count, true).every((digest, sequence) => digest === alone[sequence]),
    );
  }

  #evaluate(parts: readonly Part[]): string[] {
    return this.#fill(parts, true).map((row) => logitsDigest(this.#context, row));
  }

  #fill(parts: readonly Part[], wantsLogits: boolean): number[] {
    const context = this.#context;
    context.initBatch(parts.reduce((sum, { rows }) => sum + rows, 0));
    const found = parts.flatMap(({ sequence, position, rows }) => {
      const tokens = Uint32Array.from({ length: rows }, (_, at) => this.#token(sequence, position + at));
      const logitRows = wantsLogits ? Uint32Array.of(rows - 1) : new Uint32Array();
      return [...context.addToBatch(sequence, position, tokens, logitRows)];
    });
    context.decodeBatch();
    return found;
  }

  #clear(parts: readonly { readonly sequence: number }[]): void {
    for (const { sequence } of parts) this.#context.clearSequence(sequence);
  }

  #token(sequence: number, position: number): number {
    return (1 + sequence * 7919 + position * 104_729) % this.#tokens;
  }
}

function logitsDigest(context: NativeContext, row: number): string {
  const logits = context.readLogits(row, { tokens: [], largest: MOST_READ });
  const largest = logits.of.flatMap(({ token, logit }) => [token, logit]);
  const bits = new Float64Array([...largest, logits.totalWeight()]);
  return createHash('sha256').update(bits).digest('hex');
}

const unusable = (model: string, reason: string): Error =>
  fail('load_setting_unusable', { model, setting: LOAD_SETTINGS.exact.wire, reason });
