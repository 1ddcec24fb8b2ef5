/** Tools of MCP servers that the user added. The page calls them once the user allows it. */
import { signal } from '@preact/signals';
import { readStoredTexts, store } from '../../parts/stored.ts';
import type { ToolCall } from '../../../src/wire/inference/tool-envelope.ts';
import type { Entry } from './entry.ts';
import type { RemoteTool, Settings, ToolDraft } from './settings.ts';

const NAME = 'hearth.mcp-servers';

export const servers = signal<readonly string[]>(readStoredTexts(NAME));

function keepServer(address: string): void {
  // Another tab may have added one.
  servers.value = [...new Set([...readStoredTexts(NAME), ...servers.value, address])];
  store(NAME, JSON.stringify(servers.value));
}

export async function toolsOf(address: string): Promise<ToolDraft[]> {
  if (!URL.canParse(address))
    throw new Error('This is not an address; write one such as http://127.0.0.1:3001/mcp.');
  const { listTools } = await import('../../mcp/mcp-client.ts');
  const tools = await listTools(address, new AbortController().signal);
  keepServer(address);
  return tools.map(({ name, description, parameters }) => ({
    name: usableName(name),
    description,
    parameters: JSON.stringify(parameters, null, 2),
    from: { server: address, name },
  }));
}

/** Models call tools by letters, digits, _ and -. */
const usableName = (name: string): string => name.replaceAll(/[^\w-]/g, '_').slice(0, 64);

/** Undefined: the user types the result. */
export const remoteOf = (call: ToolCall, { tools }: Settings): RemoteTool | undefined =>
  tools.find(({ name }) => name === call.function.name)?.from;

const allowed = signal<ReadonlySet<string>>(new Set());
const keyOf = (conversation: string, { server, name }: RemoteTool): string =>
  [conversation, server, name].join('\n');

export const isAllowed = (conversation: string, tool: RemoteTool): boolean =>
  allowed.value.has(keyOf(conversation, tool));

export const allow = (conversation: string, tool: RemoteTool): void => {
  allowed.value = new Set([...allowed.value, keyOf(conversation, tool)]);
};

/** Calls in a row without a confirmation. */
const MOST_UNASKED = 10;

export const mayGoOnUnasked = (path: readonly Entry[]): boolean =>
  path.slice(path.findLastIndex(({ role }) => role === 'user') + 1).filter(({ role }) => role === 'tool')
    .length < MOST_UNASKED;

export async function runCall(call: ToolCall, tool: RemoteTool, end: AbortSignal): Promise<string> {
  const { callTool } = await import('../../mcp/mcp-client.ts');
  const args: unknown = JSON.parse(call.function.arguments === '' ? '{}' : call.function.arguments);
  if (typeof args !== 'object' || args === null)
    throw new Error('The model wrote no arguments for this call.');
  return callTool(tool.server, { name: tool.name, args }, end);
}
