/**
 * The agents that are run, as data: how each works without a terminal, and the call that writes a file in its words. What
 * an agent needs to reach the service comes from the table of `hearth launch` and from docs/agents.md, so that both are
 * tried with it.
 */
import { type Tool, tools } from '../../src/cli/launch/tools.ts';

export const FILE = 'hello.txt';
export const WORDS = 'Hello from a scripted model.\n';
const TASK = `Write the file ${FILE}.`;

export interface Agent {
  readonly program: string;
  /** Its row in the table of `hearth launch`, if it has one. */
  readonly tool?: Tool;
  /** Its section in docs/agents.md, whose first block is a file of its home folder, or else lines for a shell. */
  readonly page?: { readonly heading: string; readonly file?: string };
  /** Arguments behind those: one task, then the end. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** How the scripted model edits: a call of one of the agent's tools, or words that the agent reads as an edit. */
  readonly edit: Call | { readonly words: string };
  /** A call that a looping model makes again and again; it always has the same result. */
  readonly loop?: Call;
}

export interface Call {
  readonly name: string;
  /** `{folder}` stands for the folder of the project. */
  readonly input: Readonly<Record<string, unknown>>;
}

export const agents: Readonly<Record<string, Agent>> = {
  codex: {
    program: 'codex',
    tool: tools['codex']!,
    page: { heading: 'Codex', file: '.codex/config.toml' },
    args: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', TASK],
    edit: { name: 'exec_command', input: { cmd: `printf '%s\\n' '${WORDS.trim()}' > ${FILE}` } },
    loop: { name: 'exec_command', input: { cmd: 'cat nothing.txt' } },
  },
  claude: {
    program: 'claude',
    tool: tools['claude']!,
    page: { heading: 'Claude Code' },
    args: ['--print', TASK, '--allowedTools', 'Write'],
    edit: { name: 'Write', input: { file_path: `{folder}/${FILE}`, content: WORDS } },
    loop: { name: 'Read', input: { file_path: '{folder}/nothing.txt' } },
  },
  opencode: {
    program: 'opencode',
    tool: tools['opencode']!,
    page: { heading: 'OpenCode', file: '.config/opencode/opencode.json' },
    args: ['run', TASK],
    edit: { name: 'write', input: { filePath: `{folder}/${FILE}`, content: WORDS } },
    loop: { name: 'read', input: { filePath: '{folder}/nothing.txt' } },
  },
  qwen: {
    program: 'qwen',
    tool: tools['qwen']!,
    page: { heading: 'Qwen Code' },
    args: ['--yolo', '--prompt', TASK],
    edit: { name: 'write_file', input: { file_path: `{folder}/${FILE}`, content: WORDS } },
  },
  aider: {
    program: 'aider',
    tool: tools['aider']!,
    page: { heading: 'Aider' },
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
  copilot: {
    program: 'copilot',
    tool: tools['copilot']!,
    page: { heading: 'GitHub Copilot CLI' },
    args: ['--prompt', TASK, '--allow-all-tools', '--no-color'],
    edit: {
      name: 'bash',
      input: { command: `printf '%s\\n' '${WORDS.trim()}' > ${FILE}`, description: 'Writes' },
    },
  },
  pi: {
    program: 'pi',
    tool: tools['pi']!,
    args: ['--print', TASK],
    edit: { name: 'write', input: { path: `{folder}/${FILE}`, content: WORDS } },
  },
  kimi: {
    program: 'kimi',
    tool: tools['kimi']!,
    args: ['--prompt', TASK],
    edit: { name: 'Write', input: { path: `{folder}/${FILE}`, content: WORDS } },
  },
  gptme: {
    program: 'gptme',
    tool: tools['gptme']!,
    args: ['--non-interactive', TASK],
    edit: { name: 'save', input: { path: FILE, content: WORDS } },
  },
  continue: {
    program: 'cn',
    tool: tools['continue']!,
    page: { heading: 'Continue', file: '.continue/config.yaml' },
    args: ['--auto', '-p', TASK],
    env: { CONTINUE_TELEMETRY_ENABLED: '0', CONTINUE_CLI_ENABLE_TELEMETRY: '0' },
    edit: { name: 'Write', input: { filepath: `{folder}/${FILE}`, content: WORDS } },
  },
};
