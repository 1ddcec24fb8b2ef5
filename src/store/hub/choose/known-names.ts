/**
 * Names that people type by habit, and what to pull for them. The left side is from the library of Ollama, the right
 * side a repository of GGUF files by the model's maker where there is one, else by ggml-org or bartowski. They cannot be
 * checked offline; a hub that no longer has one says so.
 */
const REPOSITORIES: Readonly<Record<string, string>> = {
  'deepseek-r1': 'bartowski/DeepSeek-R1-Distill-Qwen-7B-GGUF',
  embeddinggemma: 'ggml-org/embeddinggemma-300M-GGUF',
  gemma3: 'ggml-org/gemma-3-4b-it-GGUF',
  'gpt-oss': 'ggml-org/gpt-oss-20b-GGUF',
  llama3: 'bartowski/Meta-Llama-3.1-8B-Instruct-GGUF',
  'llama3.1': 'bartowski/Meta-Llama-3.1-8B-Instruct-GGUF',
  'llama3.2': 'bartowski/Llama-3.2-3B-Instruct-GGUF',
  'llama3.3': 'bartowski/Llama-3.3-70B-Instruct-GGUF',
  mistral: 'bartowski/Mistral-7B-Instruct-v0.3-GGUF',
  'nomic-embed-text': 'nomic-ai/nomic-embed-text-v1.5-GGUF',
  phi4: 'bartowski/phi-4-GGUF',
  'qwen2.5': 'Qwen/Qwen2.5-7B-Instruct-GGUF',
  'qwen2.5-coder': 'Qwen/Qwen2.5-Coder-7B-Instruct-GGUF',
  qwen3: 'Qwen/Qwen3-8B-GGUF',
};

/** The repository that a name such as `llama3.2` or `qwen3:8b` stands for elsewhere; null: none is known. */
export function repositoryFor(name: string): string | null {
  const [bare = ''] = name.toLowerCase().split(':');
  return Object.hasOwn(REPOSITORIES, bare) ? (REPOSITORIES[bare] ?? null) : null;
}
