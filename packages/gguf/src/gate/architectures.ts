/**
 * Known architectures. For an unknown one the checks that need this knowledge are skipped, and the trial load
 * decides.
 */

/** Encoders produce vectors and cannot generate. */
const ENCODERS = new Set([
  'bert',
  'modern-bert',
  'nomic-bert',
  'nomic-bert-moe',
  'neo-bert',
  'jina-bert-v2',
  'jina-bert-v3',
  'eurobert',
  'gemma-embedding',
  'llama-embed',
  't5encoder',
]);

const RECURRENT = new Set(['mamba', 'mamba2', 'rwkv6', 'rwkv6qwen2', 'rwkv7', 'arwkv7']);

const HYBRID = new Set([
  'jamba',
  'falcon-h1',
  'plamo2',
  'granitehybrid',
  'lfm2',
  'lfm2moe',
  'nemotron_h',
  'nemotron_h_moe',
  'qwen3next',
  'qwen35',
  'qwen35moe',
  'kimi-linear',
]);

/** Architectures whose tensors outside the layers are exactly those of GLOBAL_TENSORS. */
const CONVENTIONAL = new Set([
  'llama',
  'mistral3',
  'qwen2',
  'qwen2moe',
  'qwen3',
  'qwen3moe',
  'gemma',
  'gemma2',
  'gemma3',
  'phi2',
  'phi3',
  'stablelm',
  'starcoder2',
  'command-r',
  'olmo2',
  'mamba',
  'bert',
  'nomic-bert',
  'jina-bert-v2',
]);

const GLOBAL_TENSORS =
  /^(token_embd|token_embd_norm|token_types|position_embd|output|output_norm|rope_freqs|rope_factors_long|rope_factors_short|cls|cls\.output|cls\.norm|dense_[23])(\.weight|\.bias|\.scale)?$/;

type Memory = 'attention' | 'recurrent' | 'hybrid';

export function memoryKind(architecture: string): Memory {
  if (RECURRENT.has(architecture)) return 'recurrent';
  return HYBRID.has(architecture) ? 'hybrid' : 'attention';
}

export function isEncoder(architecture: string): boolean {
  return ENCODERS.has(architecture);
}

/** True for a tensor outside the layers that llama.cpp does not request, which makes it refuse the file. */
export function isForeignTensor(architecture: string, tensorName: string): boolean {
  if (!CONVENTIONAL.has(architecture) || tensorName.startsWith('blk.')) return false;
  return !GLOBAL_TENSORS.test(tensorName);
}
