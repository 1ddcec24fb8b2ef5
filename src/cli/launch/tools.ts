/**
 * cli/launch owns the start of other programs that use the service. It does not know the service itself. This file:
 * the tools as data, templates over {url} (without a path), {key}, {model}, {folder} (of the tool's files), {vision}
 * (whether the model reads images: true or false), {inputs} (its kinds of input, as a JSON list), and, if known,
 * {context} (the model's window in tokens) and {certificate}.
 */
import { type Static, Type } from 'typebox';

const Words = Type.Record(Type.String(), Type.String());
/** The pattern keeps files inside the folder. */
const Files = Type.Record(Type.String({ pattern: '^[A-Za-z0-9_][A-Za-z0-9._-]*$' }), Type.String(), {
  additionalProperties: false,
});
const Command = Type.Object({ env: Words, args: Type.Array(Type.String()) }, { additionalProperties: false });

const More = Type.Partial(
  Type.Object({ ...Command.properties, files: Files }, { additionalProperties: false }),
);

export const Tool = Type.Object(
  {
    title: Type.String(),
    program: Type.String({ minLength: 1 }),
    install: Type.String(),
    env: Words,
    args: Type.Array(Type.String()),
    /** Written before the start, keyed by their name in {folder}; they never contain {key}. */
    files: Type.Optional(Files),
    /**
     * Added if the window is known: variables and files that replace others of the same name, and further arguments.
     */
    withContext: Type.Optional(More),
    /** Added if no authority has signed the service's certificate, which {certificate} names. */
    withCertificate: Type.Optional(More),
  },
  { additionalProperties: false },
);
export type Tool = Static<typeof Tool>;

export const Editor = Type.Object(
  {
    title: Type.String(),
    settings: Type.String(),
    text: Type.String(),
    note: Type.String(),
  },
  { additionalProperties: false },
);
export type Editor = Static<typeof Editor>;

/** Tokens that OpenCode keeps free in the window for an answer. */
const OPENCODE_OUTPUT = 8_192;

const bare = (json: string): string => json.replaceAll(/"(\{(?:context|vision|inputs)\})"/g, '$1');

function openCodeConfig(model: object): string {
  const hearth = {
    npm: '@ai-sdk/openai-compatible',
    name: 'Hearth',
    // OpenCode fills this, so that the key stays out of the text.
    options: { baseURL: '{url}/v1', apiKey: '{env:HEARTH_API_KEY}' },
    models: {
      '{model}': {
        name: '{model}',
        attachment: '{vision}',
        modalities: { input: '{inputs}', output: ['text'] },
        ...model,
      },
    },
  };
  return bare(JSON.stringify({ model: 'hearth/{model}', provider: { hearth } }));
}

const pretty = (value: unknown): string => bare(JSON.stringify(value, null, 2));

const piModels = (model: object): string =>
  pretty({
    providers: {
      hearth: {
        baseUrl: '{url}/v1',
        api: 'openai-completions',
        // A variable's name, so that the key stays out of the file.
        apiKey: 'HEARTH_API_KEY',
        models: [{ id: '{model}', input: '{inputs}', ...model }],
      },
    },
  });

const FREE_OF_CHARGE = {
  cost_per_1m_in: 0,
  cost_per_1m_out: 0,
  cost_per_1m_in_cached: 0,
  cost_per_1m_out_cached: 0,
  can_reason: false,
  supports_attachments: '{vision}',
};

const crushConfig = (model: object): string =>
  pretty({
    providers: {
      hearth: {
        name: 'Hearth',
        type: 'openai-compat',
        base_url: '{url}/v1',
        api_key: '$HEARTH_API_KEY',
        models: [{ id: '{model}', name: '{model}', default_max_tokens: 8192, ...FREE_OF_CHARGE, ...model }],
      },
    },
    models: {
      large: { provider: 'hearth', model: '{model}' },
      small: { provider: 'hearth', model: '{model}' },
    },
    options: { disable_provider_auto_update: true, disable_metrics: true },
  });

const CONTINUE_CONFIG = `name: Hearth
version: 1.0.0
schema: v1
models:
  - name: hearth
    provider: openai
    model: {model}
    apiBase: {url}/v1
    apiKey: \${{ secrets.HEARTH_API_KEY }}
    capabilities: [tool_use]
    roles: [chat, edit]
`;

/** Node.js and Bun trust it in addition to their authorities. */
const NODE_TRUST = { env: { NODE_EXTRA_CA_CERTS: '{certificate}' } };
/** Go, Rust and Python trust it instead of their authorities. */
const FILE_TRUST = { env: { SSL_CERT_FILE: '{certificate}' } };

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
    withCertificate: { env: { CODEX_CA_CERTIFICATE: '{certificate}' } },
  },
  claude: {
    title: 'Claude Code',
    program: 'claude',
    install: 'npm install -g @anthropic-ai/claude-code',
    env: {
      ANTHROPIC_BASE_URL: '{url}',
      ANTHROPIC_API_KEY: '{key}',
      // Its models for short tasks.
      ANTHROPIC_DEFAULT_HAIKU_MODEL: '{model}',
      ANTHROPIC_DEFAULT_SONNET_MODEL: '{model}',
      ANTHROPIC_DEFAULT_OPUS_MODEL: '{model}',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_TELEMETRY: '1',
      // This header changes with each request, which would spoil the prompt cache.
      CLAUDE_CODE_ATTRIBUTION_HEADER: '0',
      CLAUDE_CODE_TOTAL_TOKENS_REMINDER: 'off',
    },
    args: ['--model', '{model}'],
    withCertificate: NODE_TRUST,
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
    withCertificate: NODE_TRUST,
  },
  qwen: {
    title: 'Qwen Code',
    program: 'qwen',
    install: 'npm install -g @qwen-code/qwen-code',
    env: { OPENAI_BASE_URL: '{url}/v1', OPENAI_API_KEY: '{key}', OPENAI_MODEL: '{model}' },
    args: ['--auth-type', 'openai', '--model', '{model}'],
    withCertificate: NODE_TRUST,
  },
  aider: {
    title: 'Aider',
    program: 'aider',
    install: 'pip install aider-chat',
    env: { OPENAI_API_BASE: '{url}/v1', OPENAI_API_KEY: '{key}' },
    args: ['--model', 'openai/{model}'],
    withCertificate: FILE_TRUST,
  },
  copilot: {
    title: 'GitHub Copilot CLI',
    program: 'copilot',
    install: 'npm install -g @github/copilot',
    env: {
      COPILOT_PROVIDER_BASE_URL: '{url}/v1',
      COPILOT_PROVIDER_API_KEY: '{key}',
      COPILOT_MODEL: '{model}',
      // Connects only to this service and sends no telemetry.
      COPILOT_OFFLINE: 'true',
    },
    args: [],
    withCertificate: NODE_TRUST,
  },
  pi: {
    title: 'Pi',
    program: 'pi',
    install: 'npm install -g @mariozechner/pi-coding-agent',
    env: { HEARTH_API_KEY: '{key}', PI_CODING_AGENT_DIR: '{folder}', PI_SKIP_VERSION_CHECK: '1' },
    args: ['--provider', 'hearth', '--model', '{model}'],
    files: { 'models.json': piModels({}) },
    withContext: { files: { 'models.json': piModels({ contextWindow: '{context}' }) } },
    withCertificate: NODE_TRUST,
  },
  gptme: {
    title: 'gptme',
    program: 'gptme',
    install: 'pipx install gptme',
    env: { OPENAI_BASE_URL: '{url}/v1', OPENAI_API_KEY: '{key}' },
    args: ['--model', 'local/{model}', '--tool-format', 'tool'],
    withCertificate: FILE_TRUST,
  },
  crush: {
    title: 'Crush',
    program: 'crush',
    install: 'npm install -g @charmland/crush',
    env: { HEARTH_API_KEY: '{key}', CRUSH_GLOBAL_CONFIG: '{folder}', CRUSH_DISABLE_METRICS: '1' },
    args: [],
    files: { 'crush.json': crushConfig({}) },
    withContext: { files: { 'crush.json': crushConfig({ context_window: '{context}' }) } },
    withCertificate: FILE_TRUST,
  },
  goose: {
    title: 'Goose',
    program: 'goose',
    install: 'brew install block-goose-cli',
    env: {
      GOOSE_PROVIDER: 'openai',
      OPENAI_HOST: '{url}',
      OPENAI_API_KEY: '{key}',
      GOOSE_MODEL: '{model}',
      GOOSE_DISABLE_KEYRING: '1',
    },
    args: [],
    withContext: { env: { GOOSE_CONTEXT_LIMIT: '{context}' } },
    withCertificate: FILE_TRUST,
  },
  kimi: {
    title: 'Kimi Code',
    program: 'kimi',
    install: 'npm install -g @moonshot-ai/kimi-code',
    env: {
      KIMI_MODEL_PROVIDER_TYPE: 'openai',
      KIMI_MODEL_BASE_URL: '{url}/v1',
      KIMI_MODEL_API_KEY: '{key}',
      KIMI_MODEL_NAME: '{model}',
      KIMI_DISABLE_TELEMETRY: '1',
    },
    args: [],
    withContext: { env: { KIMI_MODEL_MAX_CONTEXT_SIZE: '{context}' } },
    withCertificate: NODE_TRUST,
  },
  continue: {
    title: 'Continue CLI',
    program: 'cn',
    install: 'npm install -g @continuedev/cli',
    env: { HEARTH_API_KEY: '{key}', CONTINUE_TELEMETRY_ENABLED: '0' },
    args: ['--config', '{folder}/config.yaml'],
    files: { 'config.yaml': CONTINUE_CONFIG },
    withCertificate: NODE_TRUST,
  },
};

export const editors: Readonly<Record<string, Editor>> = {
  zed: {
    title: 'Zed',
    settings: '~/.config/zed/settings.json',
    text: pretty({
      language_models: {
        openai_compatible: {
          Hearth: {
            api_url: '{url}/v1',
            available_models: [
              { name: '{model}', max_tokens: '{context}', capabilities: { tools: true, images: '{vision}' } },
            ],
          },
        },
      },
    }),
    note: 'Zed asks for the key of Hearth in its agent settings, or reads it from HEARTH_API_KEY; without a key, any word will do.',
  },
  vscode: {
    title: 'VS Code',
    settings: 'chatLanguageModels.json (command "Chat: Open Language Models (JSON)")',
    text: pretty([
      {
        name: 'Hearth',
        vendor: 'customendpoint',
        apiKey: '{key}',
        apiType: 'chat-completions',
        models: [
          {
            id: '{model}',
            name: '{model}',
            url: '{url}/v1/chat/completions',
            toolCalling: true,
            vision: '{vision}',
            maxInputTokens: '{context}',
            maxOutputTokens: 8192,
          },
        ],
      },
    ]),
    note: 'Or add Hearth as Ollama in "Chat: Manage Language Models", with the address {url}.',
  },
};
