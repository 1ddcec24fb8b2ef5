/**
 * Checks at boot that the structs of layouts.ts match the library: the defaults that it returns by value must be at
 * the expected offsets. With another layout the library would compute nonsense, or crash.
 */
import { isTestedRelease, LLAMA_CPP_RELEASE } from '../../../lib/files/native-library.ts';
import { apiDigest } from '../../../../packages/llama-api/src/probe.ts';
import type { Bound } from '../../../../packages/llama-api/src/declared.ts';
import type { LLAMA } from '../../../../packages/llama-api/src/functions.ts';
import type { ContextParams, ModelParams } from '../../../../packages/llama-api/src/structs.ts';

type Expected<T> = Readonly<Partial<Record<keyof T, unknown>>>;

export const MODEL_DEFAULTS: Expected<ModelParams> = {
  devices: null,
  tensor_buft_overrides: null,
  n_gpu_layers: -1,
  split_mode: 1,
  load_mode: -1,
  lazy_mode: 1,
  main_gpu: 0,
  tensor_split: null,
  kv_overrides: null,
  vocab_only: false,
  check_tensors: false,
  use_extra_bufts: true,
  no_host: false,
  no_alloc: false,
  load_mtp: false,
};

export const CONTEXT_DEFAULTS: Expected<ContextParams> = {
  n_ctx: 512,
  n_batch: 2048,
  n_ubatch: 512,
  n_seq_max: 1,
  n_outputs_max_per_seq: 1,
  rope_scaling_type: -1,
  pooling_type: -1,
  attention_type: -1,
  flash_attn_type: -1,
  yarn_ext_factor: -1,
  yarn_beta_slow: -1,
  defrag_thold: -1,
  cb_eval: null,
  type_k: 1,
  type_v: 1,
  abort_callback: null,
  embeddings: false,
  offload_kqv: true,
  no_perf: true,
  op_offload: true,
  swa_full: true,
  kv_unified: false,
  samplers: null,
  n_samplers: 0,
  ctx_other: null,
};

export type Defaults = Pick<
  Bound<typeof LLAMA>,
  'llama_version' | 'llama_model_default_params' | 'llama_context_default_params'
>;

/**
 * Throws one sentence that names the first misplaced member and the remedy. A release that Hearth does not know
 * passes if its headers were compared with the declarations of this version (`api`); its defaults may differ.
 */
export function checkLayouts(library: Defaults, remedy: string, api: string | null = null): void {
  const version = library.llama_version();
  if (!isTestedRelease(version)) {
    if (api === apiDigest()) return;
    throw new Error(`it is llama.cpp ${version}, and Hearth was written for ${LLAMA_CPP_RELEASE}; ${remedy}`);
  }

  const differences = [
    difference('llama_model_params', library.llama_model_default_params(), MODEL_DEFAULTS),
    difference('llama_context_params', library.llama_context_default_params(), CONTEXT_DEFAULTS),
  ];
  const first = differences.find((each) => each !== null);
  if (first !== undefined) throw new Error(`the installed llama.cpp has another layout: ${first}; ${remedy}`);
}

export function difference<T extends object>(struct: string, read: T, expected: Expected<T>): string | null {
  for (const [member, value] of Object.entries(expected)) {
    const found: unknown = Reflect.get(read, member);
    if (found !== value) return `${struct}.${member} reads ${String(found)} instead of ${String(value)}`;
  }
  return null;
}
