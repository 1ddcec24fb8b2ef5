import type { Turn } from '../../../../contract/job.ts';
import type { Abilities } from './abilities.ts';

type Message = Readonly<Record<string, unknown>>;

/** Ids link calls and results; some clients omit them, so they are filled in, in order. */
export function toMessages(turns: readonly Turn[], abilities: Pick<Abilities, 'pastThinking'>): Message[] {
  const ids = new CallIds();
  return turns.map((turn) => {
    switch (turn.role) {
      case 'assistant':
        return assistantMessage(turn, ids, abilities);
      case 'tool':
        return {
          role: 'tool',
          content: turn.content,
          tool_call_id: ids.ofResult(turn.toolCallId),
          ...(turn.name === undefined ? {} : { name: turn.name }),
        };
      default:
        return { role: turn.role, content: messageContent(turn) };
    }
  });
}

function assistantMessage(
  turn: Turn,
  ids: CallIds,
  { pastThinking }: Pick<Abilities, 'pastThinking'>,
): Message {
  const { content, reasoning, toolCalls = [] } = turn;
  return {
    role: 'assistant',
    content: content === '' && toolCalls.length > 0 ? null : content,
    ...(pastThinking && reasoning !== undefined ? { reasoning_content: reasoning } : {}),
    ...(toolCalls.length === 0
      ? {}
      : {
          tool_calls: toolCalls.map(({ id, name, argumentsJson }) => ({
            id: ids.ofCall(id),
            type: 'function',
            function: { name, arguments: argumentsJson },
          })),
        }),
  };
}

function messageContent({ content, media = [] }: Turn): string | Message[] {
  if (media.length === 0) return content;
  const parts: Message[] = [];
  let written = 0;
  const text = (until: number): void => {
    if (until > written) parts.push({ type: 'text', text: content.slice(written, until) });
    written = Math.max(written, until);
  };
  for (const item of media) {
    text(item.at);
    parts.push(
      item.medium === 'image'
        ? { type: 'image_url', image_url: { url: item.url } }
        : { type: 'input_audio', input_audio: { data: item.data, format: item.format } },
    );
  }
  text(content.length);
  return parts;
}

class CallIds {
  readonly #open: string[] = [];
  #count = 0;

  ofCall(given: string): string {
    this.#count += 1;
    const id = given === '' ? `call_${this.#count}` : given;
    this.#open.push(id);
    return id;
  }

  ofResult(given: string | undefined): string {
    const known = given === undefined || given === '' ? this.#open[0] : given;
    const id = known ?? 'call_0';
    const at = this.#open.indexOf(id);
    if (at >= 0) this.#open.splice(at, 1);
    return id;
  }
}
