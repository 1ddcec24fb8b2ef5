/**
 * The agents that are run, as data: how each works without a terminal, and the call that writes a file in its words. What
 * an agent needs to reach the service comes from the table of `hearth launch`, so that it is tried with the rest.
 */
import type { Tool } from '../../src/cli/launch/tools.ts';
import { tools } from '../../src/cli/launch/tools.ts';

export const FILE = 'hello.txt';
export const WORDS = 'Hello from a scripted model.\n';
const TASK = `Write the file ${FILE}.`;

export interface Agent {
  readonly tool: Tool;
  /** Arguments behind those of the table: one task, then the end. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Files below its home folder; {url} stands for the service. */
  readonly home?: Readonly<Record<string, string>>;
  /** How the scripted model edits: a call of one of the agent's tools, or words that the agent reads as an edit. */
  readonly edit: Call | { readonly words: string };
}

export interface Call {
  readonly name: string;
  /** `{folder}` stands for the folder of the project. */
  readonly input: Readonly<Record<string, unknown>>;
}

const CONTINUE_CONFIG = `name: Hearth
version: 1.0.0
schema: v1
models:
  - name: hearth
    provider: openai
    model: tiny-chat
    apiBase: {url}/v1
    apiKey: none
    capabilities: [tool_use]
    roles: [chat, edit]
`;

export const agents: Readonly<Record<string, Agent>> = {
  codex: {
    tool: tools['codex']!,
    args: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', TASK],
    edit: { name: 'exec_command', input: { cmd: `printf '%s\\n' '${WORDS.trim()}' > ${FILE}` } },
  },
  claude: {
    tool: tools['claude']!,
    args: ['--print', TASK, '--allowedTools', 'Write'],
    edit: { name: 'Write', input: { file_path: `{folder}/${FILE}`, content: WORDS } },
  },
  opencode: {
    tool: tools['opencode']!,
    args: ['run', TASK],
    edit: { name: 'write', input: { filePath: `{folder}/${FILE}`, content: WORDS } },
  },
  qwen: {
    tool: tools['qwen']!,
    args: ['--yolo', '--prompt', TASK],
    edit: { name: 'write_file', input: { file_path: `{folder}/${FILE}`, content: WORDS } },
  },
  aider: {
    tool: tools['aider']!,
    args: [
      '--yes-always',
      '--no-git',
      '--no-check-update',
      '--no-analytics',
      '--no-show-model-warnings',
      '--edit-format=whole',
      `--message=${TASK}`,
      FILE,
    ],
    edit: { words: `${FILE}\n\`\`\`\n${WORDS}\`\`\`\n` },
  },
  continue: {
    tool: {
      title: 'Continue',
      program: 'cn',
      install: 'npm install -g @continuedev/cli',
      env: {},
      args: [],
    },
    args: ['--config', '{home}/continue.yaml', '--auto', '-p', TASK],
    env: { CONTINUE_TELEMETRY_ENABLED: '0', CONTINUE_CLI_ENABLE_TELEMETRY: '0' },
    home: { 'continue.yaml': CONTINUE_CONFIG },
    edit: { name: 'Write', input: { filepath: `{folder}/${FILE}`, content: WORDS } },
  },
};
