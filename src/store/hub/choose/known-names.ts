/**
 * Common model names and what to pull for them. The left side is from Ollama's library: a name, and its sizes as
 * tags, the default first. The right side is a GGUF repository of the model's maker if there is one, else of ggml-org
 * or bartowski. They cannot be checked offline; the hub reports a missing one.
 */
const REPOSITORIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'deepseek-r1': {
    '7b': 'bartowski/DeepSeek-R1-Distill-Qwen-7B-GGUF',
    '1.5b': 'bartowski/DeepSeek-R1-Distill-Qwen-1.5B-GGUF',
    '8b': 'bartowski/DeepSeek-R1-Distill-Llama-8B-GGUF',
    '14b': 'bartowski/DeepSeek-R1-Distill-Qwen-14B-GGUF',
    '32b': 'bartowski/DeepSeek-R1-Distill-Qwen-32B-GGUF',
    '70b': 'bartowski/DeepSeek-R1-Distill-Llama-70B-GGUF',
  },
  embeddinggemma: { '300m': 'ggml-org/embeddinggemma-300M-GGUF' },
  gemma3: sizes(['4b', '270m', '1b', '12b', '27b'], (size) => `ggml-org/gemma-3-${size}-it-GGUF`),
  'gpt-oss': sizes(['20b', '120b'], (size) => `ggml-org/gpt-oss-${size}-GGUF`),
  llama3: sizes(['8b', '70b'], (size) => `bartowski/Meta-Llama-3-${upper(size)}-Instruct-GGUF`),
  'llama3.1': sizes(['8b', '70b', '405b'], (size) => `bartowski/Meta-Llama-3.1-${upper(size)}-Instruct-GGUF`),
  'llama3.2': sizes(['3b', '1b'], (size) => `bartowski/Llama-3.2-${upper(size)}-Instruct-GGUF`),
  'llama3.3': { '70b': 'bartowski/Llama-3.3-70B-Instruct-GGUF' },
  mistral: { '7b': 'bartowski/Mistral-7B-Instruct-v0.3-GGUF' },
  'nomic-embed-text': { 'v1.5': 'nomic-ai/nomic-embed-text-v1.5-GGUF' },
  phi4: { '14b': 'bartowski/phi-4-GGUF' },
  'qwen2.5': sizes(
    ['7b', '0.5b', '1.5b', '3b', '14b', '32b', '72b'],
    (size) => `Qwen/Qwen2.5-${upper(size)}-Instruct-GGUF`,
  ),
  'qwen2.5-coder': sizes(
    ['7b', '0.5b', '1.5b', '3b', '14b', '32b'],
    (size) => `Qwen/Qwen2.5-Coder-${upper(size)}-Instruct-GGUF`,
  ),
  qwen3: {
    ...sizes(['8b', '0.6b', '1.7b', '4b', '14b', '32b'], (size) => `Qwen/Qwen3-${upper(size)}-GGUF`),
    '30b': 'Qwen/Qwen3-30B-A3B-GGUF',
    '235b': 'Qwen/Qwen3-235B-A22B-GGUF',
  },
};

function sizes(tags: readonly string[], repository: (tag: string) => string): Record<string, string> {
  return Object.fromEntries(tags.map((tag) => [tag, repository(tag)]));
}

function upper(size: string): string {
  return size.toUpperCase();
}

export interface KnownName {
  readonly reference: string | null;
  readonly tags: readonly string[];
}

export const KNOWN_NAMES: readonly string[] = Object.keys(REPOSITORIES);

/** Accepts names such as `llama3.2`, `qwen3:0.6b` and `qwen3:8b-q4_K_M`; null: unknown. */
export function knownName(name: string): KnownName | null {
  const [bare = '', tag = 'latest'] = name.toLowerCase().split(':');
  const repositories = Object.hasOwn(REPOSITORIES, bare) ? REPOSITORIES[bare] : undefined;
  if (repositories === undefined) return null;
  const tags = Object.keys(repositories);
  const [size = '', ...others] = tag === 'latest' ? tags : tag.split('-');
  const repository = Object.hasOwn(repositories, size) ? repositories[size] : undefined;
  const quant = others.find((part) => /^(?:i?q\d\w*|b?f\d+)$/.test(part));
  const suffix = quant === undefined ? '' : `:${quant.toUpperCase()}`;
  return { reference: repository === undefined ? null : `${repository}${suffix}`, tags };
}
