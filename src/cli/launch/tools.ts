/**
 * cli/launch owns the start of other programs that use the service: what each needs, and its process. It does not know
 * the service itself. The tools, as data: templates over {url} (no path behind it), {key}, {model}, and {context} where it is
 * known: the window of the model in tokens.
 */
export interface Tool {
  readonly title: string;
  /** Looked up on PATH. */
  readonly program: string;
  /** A command that installs it. */
  readonly install: string;
  /** Environment variables; others stay as they are. */
  readonly env: Readonly<Record<string, string>>;
  /** Arguments before those of the user. */
  readonly args: readonly string[];
  /** Besides, where the window is known: variables that replace others of their name, and further arguments. */
  readonly withContext?: Partial<Pick<Tool, 'env' | 'args'>>;
}

/** Tokens of an answer that OpenCode keeps free in the window. */
const OPENCODE_OUTPUT = 8_192;

function openCodeConfig(model: object): string {
  const hearth = {
    npm: '@ai-sdk/openai-compatible',
    name: 'Hearth',
    // Filled by OpenCode: the key stays out of the text.
    options: { baseURL: '{url}/v1', apiKey: '{env:HEARTH_API_KEY}' },
    models: { '{model}': { name: '{model}', ...model } },
  };
  // A number, when it is filled.
  return JSON.stringify({ model: 'hearth/{model}', provider: { hearth } }).replace(
    '"{context}"',
    '{context}',
  );
}

export const tools: Readonly<Record<string, Tool>> = {
  codex: {
    title: 'Codex',
    program: 'codex',
    install: 'npm install -g @openai/codex',
    env: { HEARTH_API_KEY: '{key}' },
    args: [
      '-c',
      'model_provider="hearth"',
      '-c',
      'model_providers.hearth={name="Hearth",base_url="{url}/v1",wire_api="responses",env_key="HEARTH_API_KEY"}',
      '--model',
      '{model}',
    ],
    withContext: { args: ['-c', 'model_context_window={context}'] },
  },
  claude: {
    title: 'Claude Code',
    program: 'claude',
    install: 'npm install -g @anthropic-ai/claude-code',
    env: {
      ANTHROPIC_BASE_URL: '{url}',
      ANTHROPIC_API_KEY: '{key}',
      // The models that it asks for by itself, for short tasks.
      ANTHROPIC_DEFAULT_HAIKU_MODEL: '{model}',
      ANTHROPIC_DEFAULT_SONNET_MODEL: '{model}',
      ANTHROPIC_DEFAULT_OPUS_MODEL: '{model}',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
    args: ['--model', '{model}'],
  },
  opencode: {
    title: 'OpenCode',
    program: 'opencode',
    install: 'npm install -g opencode-ai',
    env: { HEARTH_API_KEY: '{key}', OPENCODE_CONFIG_CONTENT: openCodeConfig({}) },
    args: [],
    withContext: {
      env: {
        OPENCODE_CONFIG_CONTENT: openCodeConfig({ limit: { context: '{context}', output: OPENCODE_OUTPUT } }),
      },
    },
  },
  qwen: {
    title: 'Qwen Code',
    program: 'qwen',
    install: 'npm install -g @qwen-code/qwen-code',
    env: { OPENAI_BASE_URL: '{url}/v1', OPENAI_API_KEY: '{key}', OPENAI_MODEL: '{model}' },
    args: ['--auth-type', 'openai', '--model', '{model}'],
  },
  aider: {
    title: 'Aider',
    program: 'aider',
    install: 'pip install aider-chat',
    env: { OPENAI_API_BASE: '{url}/v1', OPENAI_API_KEY: '{key}' },
    args: ['--model', 'openai/{model}'],
  },
};
