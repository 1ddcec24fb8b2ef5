/**
 * svc-tool-envelope v1, the model side: what the system turn says, how past calls stand in the conversation, and
 * the one JSON object that an answer is. The built-in model is trained on these very bytes; docs/tool-envelope.md
 * publishes them.
 */
import type { ToolCallTurn, ToolDefinition, Turn } from '../../contract/job.ts';

export const CALL_OPEN = '{"svc_tool_envelope":1,"call":{"name":"';
export const CALL_BETWEEN = '","arguments":';
export const CALL_CLOSE = '}}';
export const TEXT_OPEN = '{"svc_tool_envelope":1,"text":"';
export const TEXT_CLOSE = '"}';

/** The tools block of the system turn. */
export function toolsBlock(tools: readonly ToolDefinition[]): string {
  const lines = tools.map(({ name, description, parameters }) =>
    JSON.stringify({ name, description, parameters }),
  );
  return [
    '# Tools',
    'You may call one tool. Tools, one JSON object per line:',
    ...lines,
    'Answer with exactly one JSON object and nothing else: {"svc_tool_envelope":1,"call":{"name":"<tool>","arguments":{...}}} to call a tool, or {"svc_tool_envelope":1,"text":"<answer>"} to answer in words.',
  ].join('\n');
}

/** The conversation with the tools block in its system turn. */
export function withToolsBlock(turns: readonly Turn[], tools: readonly ToolDefinition[]): Turn[] {
  const [first, ...rest] = turns;
  const block = toolsBlock(tools);
  if (first?.role !== 'system') return [{ role: 'system', content: block }, ...turns];
  return [{ ...first, content: first.content === '' ? block : `${first.content}\n\n${block}` }, ...rest];
}

/** Past calls as the model wrote them: an assistant turn that is an envelope. */
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

/** For templates that know no tool role: a result becomes what the user says next. */
export function withoutToolRole(turns: readonly Turn[]): Turn[] {
  return turns.map((turn) => (turn.role === 'tool' ? { role: 'user', content: turn.content } : turn));
}

function callEnvelope({ name, argumentsJson }: ToolCallTurn): string {
  return `${CALL_OPEN}${JSON.stringify(name).slice(1, -1)}${CALL_BETWEEN}${compact(argumentsJson)}${CALL_CLOSE}`;
}

/** Arguments as compact JSON; text that is none is kept as a JSON string, so that the envelope stays JSON. */
function compact(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json));
  } catch {
    return JSON.stringify(json);
  }
}
