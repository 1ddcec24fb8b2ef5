/** Form of past calls and tools for a template: their ids and arguments, or as text in the content. */
import { createHash } from 'node:crypto';
import type { ToolCallTurn, ToolDefinition, Turn } from '../../contract/job.ts';
import { parseSpelled } from '../../lib/json/parse-spelled.ts';
import { writeJson } from '../../lib/json/spelled-numbers.ts';
import type {
  HistoryForm,
  ModelFormat,
  ToolFormat,
} from '../../../packages/chat-templates/src/tool-format/tool-format.ts';
import { writeCalls } from '../../../packages/chat-templates/src/tool-format/write-calls.ts';
import { Text } from '../../../packages/chat-templates/src/jinja/values/text.ts';
import type { PromptTurn } from './folding/prompt-turn.ts';

export interface CallStyle extends Pick<HistoryForm, 'arguments' | 'emptyContent'> {
  readonly write: ((calls: readonly ToolCallTurn[]) => Text) | null;
}

export const USUAL_STYLE: CallStyle = { arguments: 'object', emptyContent: 'empty', write: null };

export function callStyle({ tools, history }: ModelFormat): CallStyle {
  const { arguments: args, emptyContent, calls } = history;
  const write = calls === 'text' && tools !== null ? textOfCalls.bind(null, tools) : null;
  return { arguments: args, emptyContent, write };
}

/** Marks are the model's own; names and arguments stay the client's. */
function textOfCalls(format: ToolFormat, turns: readonly ToolCallTurn[]): Text {
  const calls = turns.map(({ id, name, argumentsJson }) => ({
    id,
    name,
    arguments: parseValue(argumentsJson),
  }));
  return Text.concat(
    writeCalls(format, calls).map(({ text, isOwn }) => (isOwn ? Text.own(text) : Text.client(text))),
  );
}

function parseValue(json: string): unknown {
  try {
    return parseSpelled(json);
  } catch {
    return json;
  }
}

export function withTools(
  turns: readonly Turn[],
  tools: readonly ToolDefinition[],
  format: ToolFormat,
): PromptTurn[] {
  const [first, ...rest] = turns;
  const block = toolsText(tools, format);
  if (first?.role !== 'system') return [{ role: 'system', content: block }, ...turns];
  return [{ ...first, content: Text.concat([Text.client(first.content), Text.own('\n\n'), block]) }, ...rest];
}

function toolsText(tools: readonly ToolDefinition[], format: ToolFormat): Text {
  const lines = tools.map(({ name, description, parameters }) =>
    Text.client(`${writeJson({ name, description, parameters })}\n`),
  );
  const example = writeCalls(format, [{ name: 'TOOL', id: 'ID', arguments: { ARGUMENT: 'VALUE' } }]);
  return Text.concat([
    Text.own('# Tools\nYou may call tools. Tools, one JSON object per line:\n'),
    ...lines,
    Text.own(`To call one, write:\n${example.map(({ text }) => text).join('')}`),
  ]);
}

export function withModelIds(turns: readonly Turn[], form: HistoryForm['ids']): readonly Turn[] {
  if (form === 'any') return turns;
  const ids = new Map<string, string>();
  let count = 0;
  const callId = (id: string, name: string): string => {
    const known = ids.get(id);
    if (known !== undefined && id !== '') return known;
    const made = form === 'nine' ? nineSigns(id === '' ? `${count}` : id) : `functions.${name}:${count}`;
    ids.set(id, made);
    count += 1;
    return made;
  };
  return turns.map((turn) => ({
    ...turn,
    ...(turn.toolCalls === undefined
      ? {}
      : { toolCalls: turn.toolCalls.map((call) => ({ ...call, id: callId(call.id, call.name) })) }),
    ...(turn.toolCallId === undefined ? {} : { toolCallId: callId(turn.toolCallId, turn.name ?? '') }),
  }));
}

/** Nine letters and digits, the call ids of these models; equal ids stay equal. */
function nineSigns(id: string): string {
  if (/^[A-Za-z0-9]{9}$/.test(id)) return id;
  const digest = createHash('sha256').update(id).digest();
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
  return Array.from({ length: 9 }, (_, index) => letters[(digest[index] ?? 0) % letters.length]).join('');
}
