/** The clients that are tried, as data: where each comes from, how it is installed in a folder, and how it runs there. */

export const CHECKS = [
  'chat',
  'stream',
  'tools',
  'structured',
  'embeddings',
  '404',
  '400',
  '401',
  '429',
  'overflow',
] as const;
export type Check = (typeof CHECKS)[number];

export interface Client {
  readonly language: 'Python' | 'JavaScript' | 'Go' | 'Rust' | 'Java';
  /** What must be on PATH. */
  readonly toolchain: string;
  /** Run one after another in a folder of its own; `{source}` is this folder. */
  readonly install: readonly (readonly string[])[];
  readonly run: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** What it cannot do, or does otherwise, with the reason. */
  readonly without?: Partial<Record<Check, string>>;
}

const python = (program: string, packages: readonly string[], without: Client['without'] = {}): Client => ({
  language: 'Python',
  toolchain: 'python3',
  install: [
    ['python3', '-m', 'venv', 'venv'],
    ['venv/bin/pip', 'install', '--quiet', '--upgrade', ...packages],
  ],
  run: ['venv/bin/python', `{source}/python/${program}.py`],
  env: { PYTHONPATH: '{source}/python', PYTHONDONTWRITEBYTECODE: '1' },
  without,
});

export const clients: Readonly<Record<string, Client>> = {
  'openai-python': python('openai_client', ['openai']),
  'anthropic-python': python('anthropic_client', ['anthropic'], {
    structured: 'by a tool',
    embeddings: 'not in the API',
  }),
  LiteLLM: python('litellm_client', ['litellm']),
  LangChain: python('langchain_client', ['langchain-openai']),
  'ollama-python': python('ollama_client', ['ollama', 'pydantic']),
  LlamaIndex: python('llamaindex_client', [
    'llama-index-llms-openai-like',
    'llama-index-embeddings-openai-like',
  ]),
  'pydantic-ai': python('pydanticai_client', ['pydantic-ai-slim[openai]'], { embeddings: 'not tried' }),
  instructor: python('instructor_client', ['instructor'], {
    chat: 'structured only',
    stream: 'structured only',
    embeddings: 'not in it',
    429: 'not tried',
    overflow: 'not tried',
  }),
  'openai-node': {
    language: 'JavaScript',
    toolchain: 'npm',
    install: [
      ['cp', '{source}/node/openai.mjs', '.'],
      ['npm', 'install', '--silent', '--no-save', '--ignore-scripts', '--prefix', '.', 'openai', 'zod'],
    ],
    run: ['node', 'openai.mjs'],
  },
  'openai-go': {
    language: 'Go',
    toolchain: 'go',
    install: [
      ['cp', '{source}/go/main.go', '.'],
      ['sh', '-c', 'test -f go.mod || go mod init hearth/client'],
      ['go', 'get', 'github.com/openai/openai-go/v3@latest'],
      ['go', 'mod', 'tidy'],
      ['go', 'build', '-o', 'client', '.'],
    ],
    run: ['./client'],
  },
  'async-openai': {
    language: 'Rust',
    toolchain: 'cargo',
    install: [
      ['sh', '-c', 'test -f Cargo.toml || cargo init --quiet --name client --vcs none .'],
      ['cp', '{source}/rust/main.rs', 'src/main.rs'],
      ['cp', '{source}/rust/build.rs', 'build.rs'],
      ['cargo', 'add', '--quiet', 'async-openai', '--features', 'chat-completion,embedding'],
      ['cargo', 'add', '--quiet', 'futures', 'serde_json'],
      ['cargo', 'add', '--quiet', 'tokio', '--features', 'macros,rt-multi-thread'],
      ['cargo', 'build', '--quiet'],
    ],
    run: ['target/debug/client'],
    without: { 429: 'it repeats the request' },
  },
  'openai-java': {
    language: 'Java',
    toolchain: 'mvn',
    install: [
      ['cp', '-R', '{source}/java/pom.xml', '{source}/java/src', '.'],
      ['mvn', '--quiet', '--batch-mode', '--update-snapshots', 'compile', 'dependency:copy-dependencies'],
    ],
    run: ['java', '-cp', 'target/classes:target/dependency/*', 'Main'],
  },
};
