/**
 * C functions with their prototypes and TypeScript types. Pointers to models, contexts, vocabularies and samplers are
 * opaque addresses. A bound call blocks this thread; `.async` runs on a libuv thread and is safe only for a context
 * or model that no other call uses.
 */
import { declare } from './declared.ts';
import type {
  Batch,
  ContextParams,
  ModelParams,
  Pointer,
  ThreadpoolParams,
  TokenDataArray,
} from './structs.ts';

type Nullable = Pointer | null;

export const LLAMA = {
  llama_version: declare<() => string>('const char*'),
  llama_print_system_info: declare<() => string>('const char*'),
  llama_max_devices: declare<() => number>('size_t'),
  /** Upper bound of sequence ids in a context with shared cells. */
  llama_max_parallel_sequences: declare<() => number>('size_t'),
  llama_backend_init: declare<() => void>('void'),
  llama_log_set: declare<(callback: Nullable, user: null) => void>('void', 'void*', 'void*'),
  llama_model_default_params: declare<() => ModelParams>('llama_model_params'),
  llama_context_default_params: declare<() => ContextParams>('llama_context_params'),

  llama_model_load_from_file: declare<(path: string, params: ModelParams) => Nullable>(
    'void*',
    'const char*',
    'llama_model_params',
  ),
  llama_model_free: declare<(model: Pointer) => void>('void', 'void*'),
  llama_model_get_vocab: declare<(model: Pointer) => Pointer>('void*', 'void*'),
  llama_model_size: declare<(model: Pointer) => number>('uint64', 'void*'),
  llama_model_n_ctx_train: declare<(model: Pointer) => number>('int32', 'void*'),
  /** Width of an input row that replaces a token. */
  llama_model_n_embd_inp: declare<(model: Pointer) => number>('int32', 'void*'),
  llama_model_n_embd_out: declare<(model: Pointer) => number>('int32', 'void*'),
  llama_model_n_cls_out: declare<(model: Pointer) => number>('uint32', 'void*'),
  llama_model_n_layer: declare<(model: Pointer) => number>('int32', 'void*'),
  llama_model_n_swa: declare<(model: Pointer) => number>('int32', 'void*'),
  llama_model_is_recurrent: declare<(model: Pointer) => boolean>('bool', 'void*'),
  llama_model_is_hybrid: declare<(model: Pointer) => boolean>('bool', 'void*'),
  llama_model_meta_val_str: declare<
    (model: Pointer, key: string, text: Uint8Array | null, size: number) => number
  >('int32', 'void*', 'const char*', 'void*', 'size_t'),

  llama_init_from_model: declare<(model: Pointer, params: ContextParams) => Nullable>(
    'void*',
    'void*',
    'llama_context_params',
  ),
  llama_free: declare<(context: Pointer) => void>('void', 'void*'),
  llama_n_ctx_seq: declare<(context: Pointer) => number>('uint32', 'void*'),
  llama_n_batch: declare<(context: Pointer) => number>('uint32', 'void*'),
  llama_pooling_type: declare<(context: Pointer) => number>('int32', 'void*'),
  llama_set_n_threads: declare<(context: Pointer, decode: number, prefill: number) => void>(
    'void',
    'void*',
    'int32',
    'int32',
  ),
  llama_n_threads: declare<(context: Pointer) => number>('int32', 'void*'),
  llama_attach_threadpool: declare<(context: Pointer, decode: Pointer, prefill: Pointer) => void>(
    'void',
    'void*',
    'void*',
    'void*',
  ),

  llama_batch_init: declare<(tokens: number, embd: number, sequences: number) => Batch>(
    'llama_batch',
    'int32',
    'int32',
    'int32',
  ),
  llama_batch_free: declare<(batch: Batch) => void>('void', 'llama_batch'),
  llama_set_causal_attn: declare<(context: Pointer, causal: boolean) => void>('void', 'void*', 'bool'),
  llama_decode: declare<(context: Pointer, batch: Batch) => number>('int32', 'void*', 'llama_batch'),
  llama_get_logits_ith: declare<(context: Pointer, row: number) => Nullable>('void*', 'void*', 'int32'),
  llama_get_embeddings_ith: declare<(context: Pointer, row: number) => Nullable>('void*', 'void*', 'int32'),
  llama_get_embeddings_seq: declare<(context: Pointer, sequence: number) => Nullable>(
    'void*',
    'void*',
    'int32',
  ),

  llama_get_memory: declare<(context: Pointer) => Pointer>('void*', 'void*'),
  llama_memory_seq_rm: declare<(memory: Pointer, sequence: number, from: number, to: number) => boolean>(
    'bool',
    'void*',
    'int32',
    'int32',
    'int32',
  ),
  llama_memory_seq_cp: declare<
    (memory: Pointer, source: number, target: number, from: number, to: number) => void
  >('void', 'void*', 'int32', 'int32', 'int32', 'int32'),
  llama_memory_seq_pos_min: declare<(memory: Pointer, sequence: number) => number>('int32', 'void*', 'int32'),
  llama_memory_seq_pos_max: declare<(memory: Pointer, sequence: number) => number>('int32', 'void*', 'int32'),
  llama_state_seq_get_size_ext: declare<(context: Pointer, sequence: number, flags: number) => number>(
    'size_t',
    'void*',
    'int32',
    'uint32',
  ),
  llama_state_seq_get_data_ext: declare<
    (context: Pointer, state: Uint8Array, size: number, sequence: number, flags: number) => number
  >('size_t', 'void*', 'void*', 'size_t', 'int32', 'uint32'),
  llama_state_seq_set_data_ext: declare<
    (context: Pointer, state: Uint8Array, size: number, sequence: number, flags: number) => number
  >('size_t', 'void*', 'void*', 'size_t', 'int32', 'uint32'),

  llama_adapter_lora_init: declare<(model: Pointer, path: string) => Nullable>(
    'void*',
    'void*',
    'const char*',
  ),
  llama_set_adapters_lora: declare<
    (context: Pointer, adapters: BigUint64Array, count: number, scales: Float32Array) => number
  >('int32', 'void*', 'void*', 'size_t', 'void*'),

  llama_vocab_type: declare<(vocab: Pointer) => number>('int32', 'void*'),
  llama_vocab_n_tokens: declare<(vocab: Pointer) => number>('int32', 'void*'),
  llama_vocab_get_text: declare<(vocab: Pointer, token: number) => string | null>(
    'const char*',
    'void*',
    'int32',
  ),
  llama_vocab_get_attr: declare<(vocab: Pointer, token: number) => number>('int32', 'void*', 'int32'),
  llama_vocab_is_eog: declare<(vocab: Pointer, token: number) => boolean>('bool', 'void*', 'int32'),
  llama_vocab_bos: declare<(vocab: Pointer) => number>('int32', 'void*'),
  llama_vocab_eos: declare<(vocab: Pointer) => number>('int32', 'void*'),
  llama_vocab_sep: declare<(vocab: Pointer) => number>('int32', 'void*'),
  llama_vocab_fim_pre: declare<(vocab: Pointer) => number>('int32', 'void*'),
  llama_vocab_fim_suf: declare<(vocab: Pointer) => number>('int32', 'void*'),
  llama_vocab_fim_mid: declare<(vocab: Pointer) => number>('int32', 'void*'),
  llama_vocab_fim_rep: declare<(vocab: Pointer) => number>('int32', 'void*'),
  llama_vocab_fim_sep: declare<(vocab: Pointer) => number>('int32', 'void*'),
  llama_vocab_get_add_bos: declare<(vocab: Pointer) => boolean>('bool', 'void*'),
  llama_vocab_get_add_eos: declare<(vocab: Pointer) => boolean>('bool', 'void*'),
  llama_vocab_get_add_sep: declare<(vocab: Pointer) => boolean>('bool', 'void*'),
  llama_tokenize: declare<
    (
      vocab: Pointer,
      text: Uint8Array,
      length: number,
      tokens: Int32Array | null,
      room: number,
      addSpecial: boolean,
      parseSpecial: boolean,
    ) => number
  >('int32', 'void*', 'void*', 'int32', 'void*', 'int32', 'bool', 'bool'),
  llama_token_to_piece: declare<
    (vocab: Pointer, token: number, text: Uint8Array, room: number, strip: number, special: boolean) => number
  >('int32', 'void*', 'int32', 'void*', 'int32', 'int32', 'bool'),

  llama_sampler_apply: declare<(sampler: Pointer, candidates: TokenDataArray) => void>(
    'void',
    'void*',
    '_Inout_ llama_token_data_array*',
  ),
  llama_sampler_accept: declare<(sampler: Pointer, token: number) => void>('void', 'void*', 'int32'),
  llama_sampler_free: declare<(sampler: Pointer) => void>('void', 'void*'),
  llama_sampler_init_greedy: declare<() => Pointer>('void*'),
  llama_sampler_init_dist: declare<(seed: number) => Pointer>('void*', 'uint32'),
  llama_sampler_init_top_k: declare<(k: number) => Pointer>('void*', 'int32'),
  llama_sampler_init_top_p: declare<(p: number, keep: number) => Pointer>('void*', 'float', 'size_t'),
  llama_sampler_init_min_p: declare<(p: number, keep: number) => Pointer>('void*', 'float', 'size_t'),
  llama_sampler_init_typical: declare<(p: number, keep: number) => Pointer>('void*', 'float', 'size_t'),
  llama_sampler_init_top_n_sigma: declare<(n: number) => Pointer>('void*', 'float'),
  llama_sampler_init_temp: declare<(temperature: number) => Pointer>('void*', 'float'),
  llama_sampler_init_xtc: declare<(p: number, threshold: number, keep: number, seed: number) => Pointer>(
    'void*',
    'float',
    'float',
    'size_t',
    'uint32',
  ),
  llama_sampler_init_penalties: declare<
    (vocabulary: number, lastN: number, repeat: number, frequency: number, presence: number) => Pointer
  >('void*', 'int32', 'int32', 'float', 'float', 'float'),
  llama_sampler_init_logit_bias: declare<(vocabulary: number, count: number, bias: Uint8Array) => Pointer>(
    'void*',
    'int32',
    'int32',
    'void*',
  ),
} as const;

export const GGML = {
  ggml_backend_load_all_from_path: declare<(folder: string) => void>('void', 'const char*'),
  ggml_backend_dev_count: declare<() => number>('size_t'),
  ggml_backend_dev_get: declare<(index: number) => Pointer>('void*', 'size_t'),
} as const;

export const GGML_BASE = {
  ggml_backend_dev_name: declare<(device: Pointer) => string>('const char*', 'void*'),
  ggml_backend_dev_description: declare<(device: Pointer) => string>('const char*', 'void*'),
  ggml_backend_dev_type: declare<(device: Pointer) => number>('int32', 'void*'),
  ggml_backend_dev_memory: declare<(device: Pointer, free: [number], total: [number]) => void>(
    'void',
    'void*',
    '_Out_ size_t*',
    '_Out_ size_t*',
  ),
  ggml_backend_dev_backend_reg: declare<(device: Pointer) => Pointer>('void*', 'void*'),
  ggml_backend_dev_buffer_type: declare<(device: Pointer) => Pointer>('void*', 'void*'),
  ggml_backend_reg_name: declare<(registry: Pointer) => string>('const char*', 'void*'),
  ggml_backend_reg_get_proc_address: declare<(registry: Pointer, name: string) => Nullable>(
    'void*',
    'void*',
    'const char*',
  ),
  ggml_backend_buft_name: declare<(type: Pointer) => string>('const char*', 'void*'),
  ggml_backend_buft_is_host: declare<(type: Pointer) => boolean>('bool', 'void*'),
  ggml_backend_buft_get_device: declare<(type: Pointer) => Nullable>('void*', 'void*'),
  ggml_threadpool_params_init: declare<(params: Partial<ThreadpoolParams>, threads: number) => void>(
    'void',
    '_Out_ ggml_threadpool_params*',
    'int',
  ),
} as const;
