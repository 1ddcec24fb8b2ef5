/**
 * Shows that this library on this processor keeps the rules of an exact load, with the model's own weights: rules were found
 * on some processors, and a load must never promise what another one does not do. A reference never shares a call, so what
 * is found here decides speed and refusals, and no bit of an answer.
 */
import { createHash } from 'node:crypto';
import type { LoadSpec } from '../../contract/load.ts';
import { type ExactSteps, tileRules } from '../../contract/settings/exact-rules.ts';
import { LOAD_SETTINGS } from '../../contract/settings/load-settings.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { readMatrixTypes } from '../../lib/gguf/inspect.ts';
import { partsOf } from '../../../packages/gguf/src/format/parts.ts';
import type { NativeBackend, NativeContext } from '../native.ts';
import type { Vocabulary } from '../prompt/vocabulary.ts';
import { usesDevices } from './load-options.ts';

export interface ExactLoadFacts {
  /** Empty, and empty again afterwards. */
  readonly context: NativeContext;
  readonly spec: Pick<LoadSpec, 'modelId' | 'parallel' | 'adapters'>;
  readonly vocabulary: Pick<Vocabulary, 'size'>;
  /** State can be cut at any token. */
  readonly cuttable: boolean;
  /** All matrices are in blocks, whose products of one row and of several have the same bits. */
  readonly quantised: boolean;
}

const FLOAT_TYPES = ['F64', 'F32', 'F16', 'BF16'];

/** Rows that are computed together by the kernels that were seen: pairs, threes, fours and eights. */
const SHARED_CALLS = [2, 3, 4, 8];
const PROMPT_TOKENS = 10;
const FIRST_TILE = 2;
const SHORT_PROMPT = 3;
const MOST_READ = 64;

/** Throws `load_setting_unusable` where a GPU would compute part of the model. */
export function refuseDevices(backend: NativeBackend, { modelId, settings }: LoadSpec): void {
  if (!usesDevices(backend, settings)) return;
  throw unusable(modelId, `exact=on works on the CPU only, and the model may use a GPU here; set gpu=off`);
}

/** Whether no matrix of the model, in any of its files, is in a float type. */
export async function isQuantisedModel(path: string): Promise<boolean> {
  for (const part of partsOf(path)) {
    const types = await readMatrixTypes(part);
    if (FLOAT_TYPES.some((type) => types.has(type))) return false;
  }
  return true;
}

/** Throws `load_setting_unusable` where bits depend on how a prompt is divided or on the number of threads. */
export function provenSteps({ context, spec, vocabulary, cuttable, quantised }: ExactLoadFacts): ExactSteps {
  const tiles = tileRules(cuttable);
  const trial = new Trial(context, vocabulary.size);
  const threads = context.getThreads();
  if (cuttable && trial.prompt([PROMPT_TOKENS]) !== trial.prompt([FIRST_TILE, PROMPT_TOKENS - FIRST_TILE]))
    throw unusable(spec.modelId, 'on this processor, logits depend on how a prompt is divided');
  const alone = trial.decoded(1);
  if (threads > 1) {
    context.setThreads(1);
    const onOne = trial.decoded(1);
    context.setThreads(threads);
    if (onOne[0] !== alone[0])
      throw unusable(spec.modelId, 'on this processor, logits depend on the number of threads');
  }
  // Adapters are float matrices too, whatever the model's own weights are.
  const mayShare = quantised && spec.adapters.length === 0 && spec.parallel > 1;
  return { tiles, together: mayShare && trial.keepsBitsBeside(spec.parallel) };
}

class Trial {
  readonly #context: NativeContext;
  readonly #tokens: number;

  constructor(context: NativeContext, tokens: number) {
    this.#context = context;
    this.#tokens = tokens;
  }

  /** The logits behind a prompt that is evaluated in these tiles. */
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

  /** The logits of one token in each of so many sequences, behind a short prompt of its own. */
  decoded(sequences: number, together = false): string[] {
    const all = Array.from({ length: sequences }, (_, sequence) => sequence);
    for (const sequence of all) this.#evaluate([{ sequence, position: 0, rows: SHORT_PROMPT }]);
    const rows = all.map((sequence) => ({ sequence, position: SHORT_PROMPT, rows: 1 }));
    const found = together ? this.#evaluate(rows) : rows.flatMap((row) => this.#evaluate([row]));
    for (const sequence of all) this.#context.clearSequence(sequence);
    return found;
  }

  keepsBitsBeside(parallel: number): boolean {
    const alone = this.decoded(Math.min(parallel, Math.max(...SHARED_CALLS)));
    return SHARED_CALLS.filter((count) => count <= parallel).every((count) =>
      this.decoded(count, true).every((digest, sequence) => digest === alone[sequence]),
    );
  }

  /** In one call; returns a digest of the logits behind each last row. */
  #evaluate(parts: readonly { sequence: number; position: number; rows: number }[]): string[] {
    const context = this.#context;
    context.initBatch(parts.reduce((sum, { rows }) => sum + rows, 0));
    const found = parts.map(({ sequence, position, rows }) => {
      const tokens = Uint32Array.from({ length: rows }, (_, at) => this.#token(sequence, position + at));
      return context.addToBatch(sequence, position, tokens, Uint32Array.of(rows - 1))[0] ?? 0;
    });
    context.decodeBatch();
    return found.map((row) => digestOf(context, row));
  }

  #token(sequence: number, position: number): number {
    return (1 + sequence * 7919 + position * 104_729) % this.#tokens;
  }
}

/** Of the largest logits of a row, and the sum over all of them. */
function digestOf(context: NativeContext, row: number): string {
  const logits = context.readLogits(row, { tokens: [], largest: MOST_READ });
  const largest = logits.of.flatMap(({ token, logit }) => [token, logit]);
  const bits = new Float64Array([...largest, logits.totalWeight()]);
  return createHash('sha256').update(bits).digest('hex');
}

const unusable = (model: string, reason: string): Error =>
  fail('load_setting_unusable', { model, setting: LOAD_SETTINGS.exact.wire, reason });
