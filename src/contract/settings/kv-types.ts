/** Bits per value including its share of the block's scale; the names are llama.cpp's. */
export const KV_TYPE_BITS = {
  f32: 32,
  f16: 16,
  bf16: 16,
  q8_0: 8.5,
  q5_1: 6,
  q5_0: 5.5,
  q4_1: 5,
  q4_0: 4.5,
  iq4_nl: 4.5,
} as const;
export type KvType = keyof typeof KV_TYPE_BITS;
export const isKvType = (text: string): text is KvType => Object.hasOwn(KV_TYPE_BITS, text);

const USUAL_TYPE = 'f16';

interface KvSettings {
  readonly kvType?: KvType;
  readonly kvTypeK?: KvType;
  readonly kvTypeV?: KvType;
}

interface KvTypes {
  readonly k: KvType;
  readonly v: KvType;
}

export function kvTypes({ kvType = USUAL_TYPE, kvTypeK = kvType, kvTypeV = kvType }: KvSettings): KvTypes {
  return { k: kvTypeK, v: kvTypeV };
}

/** Size relative to an f16 cache, where keys and values are equally wide. */
export function kvShare(settings: KvSettings): number {
  const { k, v } = kvTypes(settings);
  return (KV_TYPE_BITS[k] + KV_TYPE_BITS[v]) / (2 * KV_TYPE_BITS[USUAL_TYPE]);
}

export function isQuantised(type: KvType): boolean {
  return KV_TYPE_BITS[type] < KV_TYPE_BITS[USUAL_TYPE];
}
