/**
 * The package owns a part of llama.cpp's C API as data: structs, functions, enumerators, and a program that compiles
 * only against matching headers. It contains no binding and loads nothing. This file: structs of llama.h and ggml.h
 * that are passed by value or read back.
 */

/** An address in this process. */
export type Pointer = bigint;

/** Members in order, with koffi's type names; `bool[512]` is an array. */
export const STRUCTS = {
  llama_model_params: {
    devices: 'void*',
    tensor_buft_overrides: 'void*',
    n_gpu_layers: 'int32',
    split_mode: 'int32',
    load_mode: 'int32',
    lazy_mode: 'int32',
    main_gpu: 'int32',
    tensor_split: 'void*',
    progress_callback: 'void*',
    progress_callback_user_data: 'void*',
    kv_overrides: 'void*',
    vocab_only: 'bool',
    check_tensors: 'bool',
    use_extra_bufts: 'bool',
    no_host: 'bool',
    no_alloc: 'bool',
    load_mtp: 'bool',
  },
  llama_context_params: {
    n_ctx: 'uint32',
    n_batch: 'uint32',
    n_ubatch: 'uint32',
    n_seq_max: 'uint32',
    n_rs_seq: 'uint32',
    n_outputs_max: 'uint32',
    n_outputs_max_per_seq: 'uint32',
    n_threads: 'int32',
    n_threads_batch: 'int32',
    ctx_type: 'int32',
    rope_scaling_type: 'int32',
    pooling_type: 'int32',
    attention_type: 'int32',
    flash_attn_type: 'int32',
    rope_freq_base: 'float',
    rope_freq_scale: 'float',
    yarn_ext_factor: 'float',
    yarn_attn_factor: 'float',
    yarn_beta_fast: 'float',
    yarn_beta_slow: 'float',
    yarn_orig_ctx: 'uint32',
    defrag_thold: 'float',
    cb_eval: 'void*',
    cb_eval_user_data: 'void*',
    type_k: 'int32',
    type_v: 'int32',
    abort_callback: 'void*',
    abort_callback_data: 'void*',
    embeddings: 'bool',
    offload_kqv: 'bool',
    no_perf: 'bool',
    op_offload: 'bool',
    swa_full: 'bool',
    kv_unified: 'bool',
    samplers: 'void*',
    n_samplers: 'size_t',
    ctx_other: 'void*',
  },
  llama_batch: {
    n_tokens: 'int32',
    token: 'void*',
    embd: 'void*',
    pos: 'void*',
    n_seq_id: 'void*',
    seq_id: 'void*',
    logits: 'void*',
  },
  llama_token_data: { id: 'int32', logit: 'float', p: 'float' },
  llama_token_data_array: {
    data: 'void*',
    size: 'size_t',
    selected: 'int64',
    sorted: 'bool',
  },
  ggml_threadpool_params: {
    cpumask: 'bool[512]',
    n_threads: 'int',
    prio: 'int32',
    poll: 'uint32',
    strict_cpu: 'bool',
    paused: 'bool',
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface ModelParams {
  devices: Pointer | null;
  tensor_buft_overrides: Pointer | null;
  /** Negative: all layers. */
  n_gpu_layers: number;
  split_mode: number;
  load_mode: number;
  lazy_mode: number;
  main_gpu: number;
  tensor_split: Pointer | null;
  progress_callback: Pointer | null;
  progress_callback_user_data: Pointer | null;
  kv_overrides: Pointer | null;
  vocab_only: boolean;
  check_tensors: boolean;
  use_extra_bufts: boolean;
  no_host: boolean;
  no_alloc: boolean;
  load_mtp: boolean;
}

export interface ContextParams {
  n_ctx: number;
  n_batch: number;
  n_ubatch: number;
  n_seq_max: number;
  n_rs_seq: number;
  n_outputs_max: number;
  n_outputs_max_per_seq: number;
  n_threads: number;
  n_threads_batch: number;
  ctx_type: number;
  rope_scaling_type: number;
  pooling_type: number;
  attention_type: number;
  flash_attn_type: number;
  rope_freq_base: number;
  rope_freq_scale: number;
  yarn_ext_factor: number;
  yarn_attn_factor: number;
  yarn_beta_fast: number;
  yarn_beta_slow: number;
  yarn_orig_ctx: number;
  defrag_thold: number;
  cb_eval: Pointer | null;
  cb_eval_user_data: Pointer | null;
  type_k: number;
  type_v: number;
  abort_callback: Pointer | null;
  abort_callback_data: Pointer | null;
  embeddings: boolean;
  offload_kqv: boolean;
  no_perf: boolean;
  op_offload: boolean;
  swa_full: boolean;
  kv_unified: boolean;
  samplers: Pointer | null;
  n_samplers: number;
  ctx_other: Pointer | null;
}

export interface Batch {
  n_tokens: number;
  /** Null for rows that are not tokens. */
  token: Pointer | null;
  embd: Pointer | null;
  pos: Pointer;
  n_seq_id: Pointer;
  seq_id: Pointer;
  logits: Pointer;
}

export interface TokenDataArray {
  data: Pointer;
  size: number;
  /** Index into `data`; -1: none. */
  selected: number;
  sorted: boolean;
}

export interface ThreadpoolParams {
  cpumask: readonly boolean[];
  n_threads: number;
  prio: number;
  /** 0: waiting threads sleep at once; 100: longest polling. */
  poll: number;
  strict_cpu: boolean;
  paused: boolean;
}
