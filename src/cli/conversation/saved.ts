/** `/save` and `/load`: the file is the body of the chat request that would continue the conversation. */
import { Check } from 'typebox/value';
import { parseJson } from '../../lib/base/json.ts';
import { ChatRequest, type RequestMessage } from '../../wire/inference/chat.ts';
import { isOption } from './options.ts';
import { askAgain, type Conversation, chatRequest, type Step, type Turn } from './state.ts';

export function writeConversation(state: Conversation, file: string): Step {
  if (file === '') return askAgain(state, 'Name the file: /save FILE');
  return {
    state: { ...state, phase: 'waiting' },
    effects: [
      {
        do: 'write',
        files: [{ file, text: `${JSON.stringify(chatRequest(state), null, 2)}\n` }],
        mayReplace: state.ownFiles.includes(file),
        note: `Saved; /load ${file} continues it.`,
      },
    ],
  };
}

export function readConversation(state: Conversation, file: string, text: string): Step {
  const saved = parse(text);
  if (saved === null)
    return askAgain(state, `${file} holds no conversation of plain text, so nothing was changed.`);
  const { turns, system, options, model } = saved;
  const next: Conversation = {
    ...state,
    phase: 'waiting',
    turns,
    system,
    options,
    signed: null,
    ownFiles: [...state.ownFiles, file],
  };
  const count = `${turns.length} ${turns.length === 1 ? 'message' : 'messages'} loaded from ${file}.`;
  if (model === state.model.id) return askAgain(next, count);
  return {
    state: next,
    effects: [
      { do: 'say', text: count },
      { do: 'findModel', name: model },
    ],
  };
}

interface Saved {
  readonly model: string;
  readonly system: string | null;
  readonly turns: readonly Turn[];
  readonly options: Readonly<Record<string, unknown>>;
}

function parse(text: string): Saved | null {
  const body = withMessages(parseJson(text));
  if (body === null) return null;
  const { model, messages, ...others } = body;
  const [first, ...rest] = messages;
  const hasSystem = first?.role === 'system';
  const turns = (hasSystem ? rest : messages).map(readTurn);
  if (turns.includes(null)) return null;
  return {
    model,
    system: hasSystem && typeof first.content === 'string' ? first.content : null,
    turns: turns.filter((turn) => turn !== null),
    options: Object.fromEntries(Object.entries(others).filter(([name]) => isOption(name))),
  };
}

/** A new conversation has no messages, which a request must have. */
function withMessages(value: unknown): ChatRequest | null {
  if (Check(ChatRequest, value)) return value;
  const opened = { ...(value as object | null), messages: [{ role: 'user', content: '' }] };
  const isEmpty = Array.isArray((value as { messages?: unknown } | null)?.messages);
  const has = isEmpty && (value as { messages: unknown[] }).messages.length === 0;
  return has && Check(ChatRequest, opened) ? { ...opened, messages: [] } : null;
}

function readTurn({ role, content }: RequestMessage): Turn | null {
  return (role === 'user' || role === 'assistant') && typeof content === 'string' ? { role, content } : null;
}
