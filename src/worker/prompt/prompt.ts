/**
 * worker/prompt owns the way from a conversation to the tokens of a prompt: template, guarded client text, tokeniser. It
 * knows nothing of answers, batches or the native library.
 */
import type { ToolDefinition, Turn } from '../../contract/job.ts';
import { isSvcError } from '../../lib/errors/svc-error.ts';
import { ClientText, type ControlTexts, type PromptPiece } from './client-text.ts';
import { strftime } from './strftime.ts';
import type { ChatTemplate } from './template.ts';
import type { Vocabulary } from './vocabulary.ts';

export interface ChatPrompt {
  readonly turns: readonly Turn[];
  readonly tools: readonly ToolDefinition[];
  readonly variables: Readonly<Record<string, unknown>>;
  /** Appended after the template's opening of the answer. */
  readonly prefill: string;
  readonly clockMs: number | null;
}

export interface PromptWriter {
  readonly template: ChatTemplate;
  readonly vocabulary: Vocabulary;
  readonly controls: ControlTexts;
}

export function renderPrompt(writer: PromptWriter, prompt: ChatPrompt): PromptPiece[] {
  try {
    return render(writer, prompt);
  } catch (error) {
    // Some templates have no system role (Gemma, early Mistral): then its text opens the first user turn.
    const folded = foldSystem(prompt.turns);
    if (!isSvcError(error) || folded === null) throw error;
    try {
      return render(writer, { ...prompt, turns: folded });
    } catch {
      // The first refusal is about the conversation as it was sent, so it is the one to report.
      throw error;
    }
  }
}

/** Tokens of all pieces, with the token that the model expects first, once. */
export function tokenizePieces(vocabulary: Vocabulary, pieces: readonly PromptPiece[]): Uint32Array {
  const runs = pieces.map(({ text, plain }) => vocabulary.tokenize(text, !plain));
  const first = vocabulary.prependToken;
  if (first !== null && runs.find((run) => run.length > 0)?.[0] !== first)
    runs.unshift(Uint32Array.of(first));
  if (runs.length === 1 && runs[0] !== undefined) return runs[0];
  const tokens = new Uint32Array(runs.reduce((sum, run) => sum + run.length, 0));
  let at = 0;
  for (const run of runs) {
    tokens.set(run, at);
    at += run.length;
  }
  return tokens;
}

export function pieceText(pieces: readonly PromptPiece[]): string {
  return pieces.map((piece) => piece.text).join('');
}

/** What the template makes of a conversation that only asks how it writes. */
export function probeTemplate(
  writer: PromptWriter,
  probe: Pick<ChatPrompt, 'turns'> & Partial<ChatPrompt>,
): string {
  return pieceText(renderPrompt(writer, { tools: [], variables: {}, prefill: '', clockMs: 0, ...probe }));
}

function render(writer: PromptWriter, prompt: ChatPrompt): PromptPiece[] {
  const { template, vocabulary } = writer;
  const tools = prompt.tools.map(toolVariable);
  const client = new ClientText(writer.controls, [template.source, ...clientStrings(prompt.turns, tools)]);
  const rendered = template.render({
    messages: prompt.turns.map((turn) => messageVariable(turn, client)),
    ...(tools.length > 0 ? { tools: client.guardAll(tools) } : {}),
    add_generation_prompt: true,
    bos_token: vocabulary.bosText,
    eos_token: vocabulary.eosText,
    strftime_now: (format: string) => strftime(format, prompt.clockMs),
    ...prompt.variables,
  });
  return client.pieces(rendered + prompt.prefill);
}

function messageVariable(turn: Turn, client: ClientText): Record<string, unknown> {
  return {
    role: turn.role,
    content: client.guard(turn.content),
    ...(turn.reasoning === undefined ? {} : { reasoning_content: client.guard(turn.reasoning) }),
    ...(turn.name === undefined ? {} : { name: client.guard(turn.name) }),
    ...(turn.toolCallId === undefined ? {} : { tool_call_id: client.guard(turn.toolCallId) }),
    ...(turn.toolCalls === undefined
      ? {}
      : {
          tool_calls: turn.toolCalls.map((call) => ({
            id: client.guard(call.id),
            type: 'function',
            function: {
              name: client.guard(call.name),
              arguments: client.guardAll(argumentsValue(call.argumentsJson)),
            },
          })),
        }),
  };
}

/** Templates expect the arguments as data; text that is no JSON object is passed on as it is. */
function argumentsValue(json: string): unknown {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? value : json;
  } catch {
    return json;
  }
}

function toolVariable(tool: ToolDefinition): Record<string, unknown> {
  return {
    type: 'function',
    function: { name: tool.name, description: tool.description, parameters: tool.parameters },
  };
}

function clientStrings(turns: readonly Turn[], tools: readonly unknown[]): string[] {
  return [JSON.stringify(tools), ...turns.map((turn) => JSON.stringify(turn))];
}

function foldSystem(turns: readonly Turn[]): Turn[] | null {
  const system = turns.filter((turn) => turn.role === 'system');
  if (system.length === 0) return null;
  const rest = turns.filter((turn) => turn.role !== 'system');
  const first = rest.findIndex((turn) => turn.role === 'user');
  const opening = rest[first];
  if (opening === undefined) return null;
  const words = system.map((turn) => turn.content).join('\n\n');
  return rest.with(first, { ...opening, content: `${words}\n\n${opening.content}` });
}
