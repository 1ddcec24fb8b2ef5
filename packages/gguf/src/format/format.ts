/**
 * gguf/format owns the GGUF format: its constants and a bounded reader of headers. It does not know the meaning of
 * values for a model. This file: magic, value types, tensor types and file types, shared with the writer in tools/. A
 * test compares the tensor types with the bound native library.
 */

export const GGUF_MAGIC = 'GGUF';
export const DEFAULT_ALIGNMENT = 32;

/** ggml's own limits; a file beyond them aborts the native loader. */
export const MAX_TENSOR_DIMS = 4;
export const MAX_TENSOR_NAME_BYTES = 63;

export const VALUE_TYPE_CODES = {
  u8: 0,
  i8: 1,
  u16: 2,
  i16: 3,
  u32: 4,
  i32: 5,
  f32: 6,
  bool: 7,
  string: 8,
  array: 9,
  u64: 10,
  i64: 11,
  f64: 12,
} as const;

export type ValueType = keyof typeof VALUE_TYPE_CODES;
export type ScalarType = Exclude<ValueType, 'string' | 'array'>;

export const VALUE_TYPES_BY_CODE: ReadonlyMap<number, ValueType> = new Map(
  (Object.entries(VALUE_TYPE_CODES) as [ValueType, number][]).map(([name, code]) => [code, name]),
);

export const SCALAR_BYTES: Readonly<Record<ScalarType, number>> = {
  u8: 1,
  i8: 1,
  u16: 2,
  i16: 2,
  u32: 4,
  i32: 4,
  f32: 4,
  bool: 1,
  u64: 8,
  i64: 8,
  f64: 8,
};

export interface TensorType {
  readonly name: string;
  readonly code: number;
  /** A row must be a multiple of this number of elements. */
  readonly blockSize: number;
  readonly blockBytes: number;
}

/** Name, code, elements per block, bytes per block. Codes that llama.cpp removed are absent on purpose. */
const TENSOR_TYPE_ROWS = [
  ['F32', 0, 1, 4],
  ['F16', 1, 1, 2],
  ['Q4_0', 2, 32, 18],
  ['Q4_1', 3, 32, 20],
  ['Q5_0', 6, 32, 22],
  ['Q5_1', 7, 32, 24],
  ['Q8_0', 8, 32, 34],
  ['Q8_1', 9, 32, 36],
  ['Q2_K', 10, 256, 84],
  ['Q3_K', 11, 256, 110],
  ['Q4_K', 12, 256, 144],
  ['Q5_K', 13, 256, 176],
  ['Q6_K', 14, 256, 210],
  ['Q8_K', 15, 256, 292],
  ['IQ2_XXS', 16, 256, 66],
  ['IQ2_XS', 17, 256, 74],
  ['IQ3_XXS', 18, 256, 98],
  ['IQ1_S', 19, 256, 50],
  ['IQ4_NL', 20, 32, 18],
  ['IQ3_S', 21, 256, 110],
  ['IQ2_S', 22, 256, 82],
  ['IQ4_XS', 23, 256, 136],
  ['I8', 24, 1, 1],
  ['I16', 25, 1, 2],
  ['I32', 26, 1, 4],
  ['I64', 27, 1, 8],
  ['F64', 28, 1, 8],
  ['IQ1_M', 29, 256, 56],
  ['BF16', 30, 1, 2],
  ['TQ1_0', 34, 256, 54],
  ['TQ2_0', 35, 256, 66],
  ['MXFP4', 39, 32, 17],
  ['NVFP4', 40, 64, 36],
  ['Q1_0', 41, 128, 18],
  ['Q2_0', 42, 64, 18],
] as const;

export type TensorTypeName = (typeof TENSOR_TYPE_ROWS)[number][0];

const TENSOR_TYPES: readonly TensorType[] = TENSOR_TYPE_ROWS.map(([name, code, blockSize, blockBytes]) => ({
  name,
  code,
  blockSize,
  blockBytes,
}));

export const TENSOR_TYPES_BY_CODE: ReadonlyMap<number, TensorType> = new Map(
  TENSOR_TYPES.map((type) => [type.code, type]),
);

const TENSOR_TYPES_BY_NAME: ReadonlyMap<string, TensorType> = new Map(
  TENSOR_TYPES.map((type) => [type.name, type]),
);

export function tensorType(name: TensorTypeName): TensorType {
  const type = TENSOR_TYPES_BY_NAME.get(name);
  if (!type) throw new TypeError(`no tensor type is called ${name}`);
  return type;
}

/** `general.file_type` to the label in common file names. */
export const FILE_TYPE_LABELS: ReadonlyMap<number, string> = new Map([
  [0, 'F32'],
  [1, 'F16'],
  [2, 'Q4_0'],
  [3, 'Q4_1'],
  [7, 'Q8_0'],
  [8, 'Q5_0'],
  [9, 'Q5_1'],
  [10, 'Q2_K'],
  [11, 'Q3_K_S'],
  [12, 'Q3_K_M'],
  [13, 'Q3_K_L'],
  [14, 'Q4_K_S'],
  [15, 'Q4_K_M'],
  [16, 'Q5_K_S'],
  [17, 'Q5_K_M'],
  [18, 'Q6_K'],
  [19, 'IQ2_XXS'],
  [20, 'IQ2_XS'],
  [21, 'Q2_K_S'],
  [22, 'IQ3_XS'],
  [23, 'IQ3_XXS'],
  [24, 'IQ1_S'],
  [25, 'IQ4_NL'],
  [26, 'IQ3_S'],
  [27, 'IQ3_M'],
  [28, 'IQ2_S'],
  [29, 'IQ2_M'],
  [30, 'IQ4_XS'],
  [31, 'IQ1_M'],
  [32, 'BF16'],
  [36, 'TQ1_0'],
  [37, 'TQ2_0'],
  [38, 'MXFP4_MOE'],
  [39, 'NVFP4'],
  [40, 'Q1_0'],
  [41, 'Q2_0'],
]);

export function fileTypeCode(label: string): number {
  for (const [code, name] of FILE_TYPE_LABELS) if (name === label) return code;
  throw new TypeError(`no file type is called ${label}`);
}

export const TOKEN_TYPE = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const;

export const POOLING_TYPE = { none: 0, mean: 1, cls: 2, last: 3, rank: 4 } as const;
