/** Enumerators, keyed by the end of their C names in lower case. */
export const VOCAB_TYPES = { none: 0, spm: 1, bpe: 2, wpm: 3, ugm: 4, rwkv: 5, plamo2: 6 } as const;
/** `lstrip`: spaces before the token belong to it. */
export const TOKEN_ATTRIBUTES = { unknown: 1, control: 8, user_defined: 16, lstrip: 128 } as const;
export const POOLINGS = { none: 0, mean: 1, cls: 2, last: 3, rank: 4 } as const;
export const SPLIT_MODES = { none: 0, layer: 1, row: 2 } as const;
export const LOAD_MODES = { auto: -1, none: 0, mmap: 1, mlock: 2, 'mmap+mlock': 3 } as const;
export const ROPE_SCALINGS = { unspecified: -1, none: 0, linear: 1, yarn: 2 } as const;
export const FLASH_ATTENTION = { auto: -1, disabled: 0, enabled: 1 } as const;
export const DEVICE_TYPES = { cpu: 0, gpu: 1, igpu: 2, accel: 3, meta: 4 } as const;
/** `cont` continues the previous line. */
export const LOG_LEVELS = { none: 0, debug: 1, info: 2, warn: 3, error: 4, cont: 5 } as const;
export const KV_TYPES = {
  f32: 0,
  f16: 1,
  q4_0: 2,
  q4_1: 3,
  q5_0: 6,
  q5_1: 7,
  q8_0: 8,
  iq4_nl: 20,
  bf16: 30,
} as const;

/** Keyed by the common prefix of the C names. */
export const ENUMS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  LLAMA_VOCAB_TYPE_: VOCAB_TYPES,
  LLAMA_TOKEN_ATTR_: TOKEN_ATTRIBUTES,
  LLAMA_POOLING_TYPE_: POOLINGS,
  LLAMA_SPLIT_MODE_: SPLIT_MODES,
  LLAMA_LOAD_MODE_: LOAD_MODES,
  LLAMA_ROPE_SCALING_TYPE_: ROPE_SCALINGS,
  LLAMA_FLASH_ATTN_TYPE_: FLASH_ATTENTION,
  GGML_BACKEND_DEVICE_TYPE_: DEVICE_TYPES,
  GGML_LOG_LEVEL_: LOG_LEVELS,
  GGML_TYPE_: KV_TYPES,
};

export function enumName<K extends string>(table: Readonly<Record<K, number>>, value: number): K | undefined {
  return (Object.keys(table) as K[]).find((name) => table[name] === value);
}
