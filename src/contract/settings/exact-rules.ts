/**
 * Rules of an exact load, in which the logits of an answer are a function of its request alone. The load, the step
 * planner, the prompt cache and the checks of `hearth set` derive from this table; a test compares docs/exact.md with
 * it. Every rule was found by comparing bits; test/native/exact.property.test.ts fails if one is broken.
 */
import { isQuantised, kvTypes } from './kv-types.ts';
import type { ModelSettings, SettingFault } from './shapes.ts';

interface ExactLoad {
  readonly flashAttention: false;
  readonly unified: false;
  readonly repacks: false;
  /** Layers with a sliding window keep the whole past, so state can be cut and restored anywhere. */
  readonly wholeWindows: true;
  readonly microBatchTokens: number;
}

export interface TileRules {
  /** Rows of a tile; a prompt of one token is the exception. */
  readonly leastRows: number;
  readonly microBatchTokens: number;
}

export interface ExactSteps {
  readonly together: boolean;
}

interface ExactRule {
  readonly rule: string;
  readonly because: string;
  readonly load?: Partial<ExactLoad>;
  refuses?(settings: ModelSettings): SettingFault | null;
}

export const EXACT_RULES = {
  plainAttention: {
    rule: 'Attention is computed without flash attention.',
    because: 'With it, the cells of a row are divided among threads when rows are few.',
    // Small enough that scores of all heads need little memory.
    load: { flashAttention: false, microBatchTokens: 64 },
    refuses: (settings) =>
      settings.flashAttention === 'on'
        ? {
            wire: 'flash_attention',
            reason: 'is on, and exact=on needs plain attention; set flash_attention=auto',
          }
        : null,
  },
  valueType: {
    rule: 'Values in the KV cache are not quantised; keys may be.',
    because: 'Quantised values need flash attention.',
    refuses: (settings) => {
      const { v } = kvTypes(settings);
      const wire = settings.kvTypeV === undefined ? 'kv_type' : 'kv_type_v';
      return isQuantised(v)
        ? {
            wire,
            reason: `is ${v}, which needs flash attention, and exact=on needs plain; set kv_type_v=f16`,
          }
        : null;
    },
  },
  ownCells: {
    rule: 'Every slot has a window of its own.',
    because: 'In shared cells a sum runs over the cells of others, in the order in which they came.',
    load: { unified: false },
  },
  notRepacked: {
    rule: 'Weights are computed as they lie in the file.',
    because: 'Repacked weights compute four rows with another kernel than one.',
    load: { repacks: false },
  },
  wholeWindows: {
    rule: 'Layers with a sliding window keep the whole past.',
    because: 'Otherwise cells are reused, and a state that was cut continues in other cells.',
    load: { wholeWindows: true },
  },
  windowState: {
    rule: 'State of a model with a sliding window stays in its slot, never in memory or on disk.',
    because: 'The library saves only the cells inside the window, and puts them into other cells.',
  },
  promptTiles: {
    rule: 'Prompts are evaluated in tiles of at least two rows, never together with a row of an answer.',
    because:
      'One row is computed with another kernel than two, and all sequences of a call get tiles of one size.',
  },
  noPanels: {
    rule: 'Weights of IQ types are computed row by row.',
    because: 'Another kernel computes eight rows and more, and an expert gets rows of several requests.',
  },
  answers: {
    rule: 'The state of an answer is evaluated again, as part of the next prompt.',
    because: 'It was computed row by row; a lone cold run computes it in tiles.',
  },
  promptTokens: {
    rule: 'A prompt keeps its own tokens.',
    because: 'An ordinary load takes over the tokens of an earlier answer with the same text.',
  },
  sharedCalls: {
    rule: 'Answers, and ends of prompts, share a call only if the load has shown that their rows keep their bits.',
    because: 'Weights in F32, F16 or BF16 are multiplied with another kernel from two rows on.',
  },
  noDrafts: {
    rule: 'Nothing is drafted or padded.',
    because: 'A draft and the token before it form a tile of two rows.',
    refuses: (settings) =>
      settings.draftModel === undefined
        ? null
        : { wire: 'draft_model', reason: 'is set, and exact=on allows no drafts; set draft_model=' },
  },
  cpu: {
    rule: 'The whole model is computed on the CPU.',
    because: 'Kernels of GPUs choose their shape by the number of rows.',
    refuses: ({ gpu, gpuLayers, overrideTensors = [] }) => {
      const override = overrideTensors.find(({ buffer }) => buffer !== 'CPU');
      if (override !== undefined) {
        const reason = `names the buffer ${override.buffer}, and exact=on works in that of the CPU only; set override_tensors=`;
        return { wire: 'override_tensors', reason };
      }
      return gpuLayers !== undefined && gpuLayers !== 'auto' && gpuLayers !== 0 && gpu !== 'off'
        ? { wire: 'gpu_layers', reason: `is ${gpuLayers}, and exact=on works on the CPU only; set gpu=off` }
        : null;
    },
  },
} as const satisfies Readonly<Record<string, ExactRule>>;

const ROWS: readonly ExactRule[] = Object.values(EXACT_RULES);

export const EXACT_LOAD = Object.assign({}, ...ROWS.map(({ load }) => load)) as ExactLoad;

export const EXACT_TILES: TileRules = { leastRows: 2, microBatchTokens: EXACT_LOAD.microBatchTokens };

export function whyNotExact(settings: ModelSettings): SettingFault | null {
  for (const { refuses } of ROWS) {
    const fault = refuses?.(settings) ?? null;
    if (fault !== null) return fault;
  }
  return null;
}

export const isExact = ({ exact }: Pick<ModelSettings, 'exact'>): boolean => exact === 'on';
