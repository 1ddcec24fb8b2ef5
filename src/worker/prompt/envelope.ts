/**
 * svc-tool-envelope v1, the model side, for templates without a tool syntax: the tools block, the form of past calls,
 * and the one JSON object that an answer is. The built-in model is trained on these very bytes; docs/tool-envelope.md
 * publishes them.
 */
import type { ToolCallTurn, ToolDefinition, Turn } from '../../contract/job.ts';
import { memoizeByObject } from '../../lib/base/memoize-by-object.ts';
import { parseSpelled } from '../../lib/json/parse-spelled.ts';
import { writeJson } from '../../lib/json/spelled-numbers.ts';
import type { PromptTurn } from './folding/prompt-turn.ts';
import { probeTemplate, type PromptWriter } from './prompt.ts';

export const CALL_OPEN = '{"svc_tool_envelope":1,"call":{"name":"';
export const CALL_BETWEEN = '","arguments":';
export const CALL_CLOSE = '}}';
export const TEXT_OPEN = '{"svc_tool_envelope":1,"text":"';
export const TEXT_CLOSE = '"}';

interface ToolTurns {
  readonly turns: readonly Turn[];
  readonly tools: readonly ToolDefinition[];
  readonly callable: boolean;
}

export function envelopeTurns(
  writer: PromptWriter,
  { turns, tools, callable }: ToolTurns,
): readonly PromptTurn[] {
  // All tools are described even if only one may be called: the prompt, and its cached state, stay the same.
  const described = callable ? withToolsBlock(turns, tools) : turns;
  return withKnownRoles(writer, withEnvelopeHistory(described));
}

export function withKnownRoles(writer: PromptWriter, turns: readonly PromptTurn[]): readonly PromptTurn[] {
  const hasResults = turns.some(({ role }) => role === 'tool');
  return hasResults && !knowsToolRole(writer) ? withoutToolRole(turns) : turns;
}

export function toolsBlock(tools: readonly ToolDefinition[]): string {
  const lines = tools.map(({ name, description, parameters }) =>
    writeJson({ name, description, parameters }),
  );
  return [
    '# Tools',
    'You may call one tool. Tools, one JSON object per line:',
    ...lines,
    'Answer with exactly one JSON object and nothing else: {"svc_tool_envelope":1,"call":{"name":"<tool>","arguments":{...}}} to call a tool, or {"svc_tool_envelope":1,"text":"<answer>"} to answer in words.',
  ].join('\n');
}

export function withToolsBlock(turns: readonly Turn[], tools: readonly ToolDefinition[]): Turn[] {
  const [first, ...rest] = turns;
  const block = toolsBlock(tools);
  if (first?.role !== 'system') return [{ role: 'system', content: block }, ...turns];
  return [{ ...first, content: first.content === '' ? block : `${first.content}\n\n${block}` }, ...rest];
}

export function withEnvelopeHistory(turns: readonly Turn[]): Turn[] {
  return turns.map((turn) => {
    const { toolCalls, ...plain } = turn;
    if (toolCalls === undefined || toolCalls.length === 0) return turn;
    const calls = toolCalls.map(callEnvelope);
    return {
      ...plain,
      content: [...(turn.content.trim() === '' ? [] : [turn.content]), ...calls].join('\n'),
    };
  });
}

/** For templates without a tool role: a result becomes a message of the user. */
export function withoutToolRole(turns: readonly PromptTurn[]): PromptTurn[] {
  return turns.map((turn) => (turn.role === 'tool' ? { role: 'user', content: turn.content } : turn));
}

function callEnvelope({ name, argumentsJson }: ToolCallTurn): string {
  return `${CALL_OPEN}${JSON.stringify(name).slice(1, -1)}${CALL_BETWEEN}${compact(argumentsJson)}${CALL_CLOSE}`;
}

/** Arguments as compact JSON; other text becomes a JSON string, so that the envelope stays JSON. */
function compact(json: string): string {
  try {
    return writeJson(parseSpelled(json));
  } catch {
    return JSON.stringify(json);
  }
}

/** Some templates refuse roles that they do not know, or print nothing for them: tried once per model. */
const knowsToolRole = memoizeByObject(printsToolTurn);

function printsToolTurn(writer: PromptWriter): boolean {
  const content = 'tool result 7401';
  try {
    const turns: Turn[] = [
      { role: 'user', content: 'question' },
      { role: 'assistant', content: 'call' },
      { role: 'tool', content },
    ];
    return probeTemplate(writer, { turns }).includes(content);
  } catch {
    // The template raised its own exception about the role, so it does not know it.
    return false;
  }
}
