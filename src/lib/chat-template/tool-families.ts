/**
 * lib/chat-template owns what can be told from the text of a chat template: tool-call families and reasoning marks. It
 * knows nothing of rendering or of jobs. The registry names a model's format from it; the worker writes and reads it.
 * This file: how model families write a tool call, as data. The envelope serves every model trained on none of them.
 */
export interface ToolFamily {
  readonly name: string;
  /** Where a call begins. Text may come before it, unless `atStart`. */
  readonly open: string;
  /** True: only an answer that begins with `open` is a call. */
  readonly atStart: boolean;
  readonly beforeName: string;
  readonly beforeArguments: string;
  readonly close: string;
  /** How the arguments are written: `spaced` allows one space after each colon and comma. */
  readonly spacing: 'compact' | 'spaced';
}

const FAMILIES = {
  hermes: {
    name: 'hermes',
    open: '<tool_call>',
    atStart: false,
    beforeName: '\n{"name": "',
    beforeArguments: '", "arguments": ',
    close: '}\n</tool_call>',
    spacing: 'spaced',
  },
  llama3: {
    name: 'llama3-json',
    open: '{"name": "',
    atStart: true,
    beforeName: '',
    beforeArguments: '", "parameters": ',
    close: '}',
    spacing: 'spaced',
  },
  mistral: {
    name: 'mistral',
    open: '[TOOL_CALLS]',
    atStart: false,
    beforeName: '[{"name": "',
    beforeArguments: '", "arguments": ',
    close: '}]',
    spacing: 'spaced',
  },
  mistralArgs: {
    name: 'mistral-args',
    open: '[TOOL_CALLS]',
    atStart: false,
    beforeName: '',
    beforeArguments: '[ARGS]',
    close: '',
    spacing: 'spaced',
  },
  phi4: {
    name: 'phi4',
    open: '<|tool_call|>',
    atStart: false,
    beforeName: '[{"name": "',
    beforeArguments: '", "arguments": ',
    close: '}]<|/tool_call|>',
    spacing: 'spaced',
  },
  granite: {
    name: 'granite',
    open: '<|tool_call|>',
    atStart: false,
    beforeName: '[{"name": "',
    beforeArguments: '", "arguments": ',
    close: '}]',
    spacing: 'spaced',
  },
  commandR: {
    name: 'command-r7b',
    open: '<|START_ACTION|>',
    atStart: false,
    beforeName: '[\n    {"tool_call_id": "0", "tool_name": "',
    beforeArguments: '", "parameters": ',
    close: '}\n]<|END_ACTION|>',
    spacing: 'spaced',
  },
} as const satisfies Record<string, ToolFamily>;

/**
 * The family that a chat template renders tools for, or null: then the envelope is used, also for templates that
 * handle tools in a way that is not known here.
 */
export function familyOfTemplate(template: string): ToolFamily | null {
  if (!/\btools\b/.test(template)) return null;
  const has = (text: string) => template.includes(text);
  if (has('<tool_call>')) return has('<function=') || has('<arg_key>') ? null : FAMILIES.hermes;
  if (has('[TOOL_CALLS]')) return has('[ARGS]') ? FAMILIES.mistralArgs : FAMILIES.mistral;
  if (has('<|START_ACTION|>')) return FAMILIES.commandR;
  if (has('<|tool_call|>')) return has('<|/tool_call|>') ? FAMILIES.phi4 : FAMILIES.granite;
  if (has('<|start_header_id|>') && (has('parameters') || has('<|python_tag|>'))) return FAMILIES.llama3;
  return null;
}

/** How tools are put to a model with this template: the name of a family, or `envelope`. */
export function toolFormatOf(template: string): string {
  return familyOfTemplate(template)?.name ?? 'envelope';
}
