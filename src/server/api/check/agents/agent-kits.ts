/**
 * The tools of each agent under the names and schemas that it sends, without its descriptions, which its maker owns;
 * how they make each move of the task, and which move a call makes.
 */
import type { ToolDefinition } from '../../../../contract/job.ts';
import type { Action } from './script.ts';

export interface AgentCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface AgentKit {
  readonly title: string;
  readonly system: string;
  readonly tools: readonly ToolDefinition[];
  toCall(action: Action): AgentCall;
  toAction(call: AgentCall): Action | null;
}

export const AGENTS = ['codex', 'claude', 'opencode'] as const;
export type AgentName = (typeof AGENTS)[number];

type Shape = string | readonly string[] | { readonly list: Readonly<Record<string, Shape>> };

function tool(name: string, description: string, members: Readonly<Record<string, Shape>>): ToolDefinition {
  return { name, description, parameters: objectSchema(members) };
}

function objectSchema(members: Readonly<Record<string, Shape>>): Record<string, unknown> {
  const names = Object.keys(members);
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(members).map(([name, shape]) => [name.replace('?', ''), valueSchema(shape)]),
    ),
    required: names.filter((name) => !name.endsWith('?')),
    additionalProperties: false,
  };
}

function valueSchema(shape: Shape): Record<string, unknown> {
  if (typeof shape === 'string') return { type: shape };
  if ('list' in shape) return { type: 'array', items: objectSchema(shape.list) };
  return { type: 'string', enum: [...shape] };
}

const textOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '');

const READS = /^\s*(?:cat|bat|nl|less|more|head|tail|sed\s+-n)\b[^|;&>]*?([\w./-]+\.\w+)["']?\s*$/;
const LISTS = /^\s*(?:ls|find|tree|fd|dir|git\s+ls-files|rg\s+--files)\b/;
const FINDS = /^\s*(?:rg|grep|ag|git\s+grep)\b(.*)/s;
const WRITES = /(?:>|\btee\b)\s*["']?([\w./-]+\.\w+)/;
const REPLACES = /\bsed\s+-i\S*\s+(?:-e\s+)?["']s(.)(.*?)\1(.*?)\1\w*["']\s+["']?([\w./-]+\.\w+)/;

export function shellAction(script: string): Action | null {
  const command = script.replace(/^\s*cd\s+\S+\s*(?:&&|;)\s*/, '');
  const patched = /\*\*\* Update File: (\S+)[\s\S]*?\n-(.*)\n\+(.*)/.exec(command);
  if (patched !== null) {
    const [, file = '', from = '', to = ''] = patched;
    return { do: 'edit', file, from, to };
  }
  const added = /\*\*\* Add File: (\S+)\n\+(.*)/.exec(command);
  if (added !== null) return { do: 'write', file: added[1] ?? '', text: added[2] ?? '' };
  const replaced = REPLACES.exec(command);
  if (replaced !== null) {
    const [, , from = '', to = '', file = ''] = replaced;
    return { do: 'edit', file, from: from.replaceAll('\\', ''), to: to.replaceAll('\\', '') };
  }
  const written = WRITES.exec(command);
  if (written !== null) return { do: 'write', file: written[1] ?? '', text: command };
  const read = READS.exec(command);
  if (read !== null) return { do: 'read', file: read[1] ?? '' };
  const found = FINDS.exec(command);
  if (LISTS.test(command)) return { do: 'list' };
  if (found !== null) return { do: 'find', text: found[1] ?? '' };
  return command.trim() === '' ? null : { do: 'run', command };
}

function shellCommand(action: Action): string {
  switch (action.do) {
    case 'list':
      return 'git ls-files';
    case 'read':
      return `cat ${action.file}`;
    case 'find':
      return `rg -n '${action.text.replaceAll('(', '\\(')}'`;
    case 'write':
      return `cat > ${action.file} <<'EOF'\n${action.text}EOF`;
    case 'edit':
      return `sed -i 's/${action.from}/${action.to}/' ${action.file}`;
    case 'run':
      return action.command;
  }
}

const CODEX: AgentKit = {
  title: 'Codex',
  system:
    'You are a coding agent in a terminal. The working folder is /home/dev/shop. Use exec_command for everything you do there.',
  tools: [
    tool('exec_command', 'Runs a command in a shell and returns its output.', {
      cmd: 'string',
      'justification?': 'string',
      'login?': 'boolean',
      'max_output_tokens?': 'number',
      'sandbox_permissions?': ['use_default', 'require_escalated'],
      'shell?': 'string',
      'tty?': 'boolean',
      'workdir?': 'string',
      'yield_time_ms?': 'number',
    }),
    tool('write_stdin', 'Writes to a command that still runs.', {
      session_id: 'number',
      'chars?': 'string',
      'max_output_tokens?': 'number',
      'yield_time_ms?': 'number',
    }),
    tool('request_user_input', 'Asks the user.', {
      questions: { list: { id: 'string', header: 'string', question: 'string' } },
    }),
    tool('view_image', 'Shows an image of the disk.', { path: 'string' }),
    tool('spawn_agent', 'Starts another agent.', { message: 'string', 'agent_type?': 'string' }),
    tool('close_agent', 'Ends another agent.', { target: 'string' }),
    tool('get_goal', 'Tells the goal.', {}),
    tool('update_goal', 'Says how the goal is.', { status: ['complete', 'blocked', 'paused'] }),
  ],
  toCall: (action) => ({ name: 'exec_command', input: { cmd: shellCommand(action) } }),
  toAction: ({ name, input }) => (name === 'exec_command' ? shellAction(textOrEmpty(input['cmd'])) : null),
};

interface Words {
  readonly shell: string;
  readonly read: string;
  readonly write: string;
  readonly edit: string;
  readonly glob: string | null;
  readonly grep: string | null;
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const ROOT = '/home/dev/shop/';

function editorMoves(words: Words): Pick<AgentKit, 'toCall' | 'toAction'> {
  const { shell, read, write, edit, glob, grep, file: at, from, to } = words;
  const inShell = (action: Action): AgentCall => ({ name: shell, input: { command: shellCommand(action) } });
  return {
    toCall: (action) => {
      switch (action.do) {
        case 'list':
          return glob === null ? inShell(action) : { name: glob, input: { pattern: '**/*' } };
        case 'find':
          return grep === null ? inShell(action) : { name: grep, input: { pattern: 'total\\(' } };
        case 'read':
          return { name: read, input: { [at]: ROOT + action.file } };
        case 'write':
          return { name: write, input: { [at]: ROOT + action.file, content: action.text } };
        case 'edit':
          return { name: edit, input: { [at]: ROOT + action.file, [from]: action.from, [to]: action.to } };
        case 'run':
          return inShell(action);
      }
    },
    toAction: ({ name, input }) => {
      const file = textOrEmpty(input[at]);
      switch (name) {
        case shell:
          return shellAction(textOrEmpty(input['command']));
        case read:
          return { do: 'read', file };
        case write:
          return { do: 'write', file, text: textOrEmpty(input['content']) };
        case edit:
          return { do: 'edit', file, from: textOrEmpty(input[from]), to: textOrEmpty(input[to]) };
        case glob:
          return { do: 'list' };
        case grep:
          return { do: 'find', text: textOrEmpty(input['pattern']) };
        default:
          return null;
      }
    },
  };
}

const CLAUDE: AgentKit = {
  title: 'Claude Code',
  system: 'You are a coding agent. The working folder is /home/dev/shop; name files by their whole paths.',
  tools: [
    tool('Agent', 'Starts another agent.', {
      description: 'string',
      prompt: 'string',
      'subagent_type?': 'string',
      'run_in_background?': 'boolean',
    }),
    tool('Bash', 'Runs a command in a shell and returns its output. Lists and searches files as well.', {
      command: 'string',
      'timeout?': 'number',
      'description?': 'string',
      'run_in_background?': 'boolean',
    }),
    tool('Edit', 'Replaces a text in a file.', {
      file_path: 'string',
      old_string: 'string',
      new_string: 'string',
      'replace_all?': 'boolean',
    }),
    tool('Read', 'Reads a file.', { file_path: 'string', 'offset?': 'integer', 'limit?': 'integer' }),
    tool('Skill', 'Runs a skill.', { skill: 'string', 'args?': 'string' }),
    tool('ToolSearch', 'Finds further tools.', { query: 'string', max_results: 'number' }),
    tool('ScheduleWakeup', 'Goes on later.', {
      'delaySeconds?': 'number',
      'reason?': 'string',
      'prompt?': 'string',
    }),
    tool('Write', 'Writes a whole file.', { file_path: 'string', content: 'string' }),
  ],
  ...editorMoves({
    shell: 'Bash',
    read: 'Read',
    write: 'Write',
    edit: 'Edit',
    glob: null,
    grep: null,
    file: 'file_path',
    from: 'old_string',
    to: 'new_string',
  }),
};

const OPENCODE: AgentKit = {
  title: 'OpenCode',
  system: 'You are a coding agent. The working folder is /home/dev/shop; name files by their whole paths.',
  tools: [
    tool('bash', 'Runs a command in a shell and returns its output.', {
      command: 'string',
      'timeout?': 'integer',
      'workdir?': 'string',
    }),
    tool('edit', 'Replaces a text in a file.', {
      filePath: 'string',
      oldString: 'string',
      newString: 'string',
      'replaceAll?': 'boolean',
    }),
    tool('glob', 'Lists files by a pattern.', { pattern: 'string', 'path?': 'string' }),
    tool('grep', 'Searches files for a pattern.', {
      pattern: 'string',
      'path?': 'string',
      'include?': 'string',
    }),
    tool('read', 'Reads a file.', { filePath: 'string', 'offset?': 'integer', 'limit?': 'integer' }),
    tool('skill', 'Loads a skill.', { name: 'string' }),
    tool('task', 'Starts another agent.', {
      description: 'string',
      prompt: 'string',
      subagent_type: 'string',
    }),
    tool('todowrite', 'Keeps a list of what is to be done.', {
      todos: { list: { content: 'string', status: 'string', priority: 'string' } },
    }),
    tool('webfetch', 'Reads a page of the web.', { url: 'string', 'format?': ['text', 'markdown', 'html'] }),
    tool('write', 'Writes a whole file.', { content: 'string', filePath: 'string' }),
  ],
  ...editorMoves({
    shell: 'bash',
    read: 'read',
    write: 'write',
    edit: 'edit',
    glob: 'glob',
    grep: 'grep',
    file: 'filePath',
    from: 'oldString',
    to: 'newString',
  }),
};

export const AGENT_KITS: Readonly<Record<AgentName, AgentKit>> = {
  codex: CODEX,
  claude: CLAUDE,
  opencode: OPENCODE,
};
