/** The dialects in which an answer can be asked for, each with what it says in neutral words. */
import { expect } from 'vitest';

/** What a client has of an answer, whole or in part. */
export interface Heard {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly name: string; readonly input: unknown }[];
  /** How it ended, in the word of the dialect; null: it did not. */
  readonly end: string | null;
}

export interface AskFields {
  readonly model: string;
  readonly stream: boolean;
  readonly tools?: boolean;
  readonly schema?: boolean;
}

export interface SpokenDialect {
  readonly name: string;
  readonly path: string;
  readonly hasTools: boolean;
  /** Its words for an answer that a limit cut, and for one that ended by itself. */
  readonly cut: string;
  readonly stop: string;
  readonly ask: (fields: AskFields) => object;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into bodies whose schema is checked already
  readonly whole: (body: any) => Heard;
  /** Of all events that came, complete or not. */
  readonly streamed: (text: string) => Heard;
}

export const TOOL = {
  name: 'ban',
  parameters: { type: 'object', properties: { who: { type: 'string' } }, required: ['who'] },
};
export const SCHEMA = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };

const functionTool = { type: 'function', function: TOOL };
const messages = [{ role: 'user', content: 'Go.' }];
const named = { type: 'json_schema', json_schema: { name: 'a', schema: SCHEMA } };
const nothing: Heard = { text: '', reasoning: '', calls: [], end: null };

/** The data of each event, without the last words. */
// oxlint-disable-next-line typescript/no-explicit-any -- as above
function events(text: string): any[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as unknown);
}

// oxlint-disable-next-line typescript/no-explicit-any -- as above
const lines = (text: string): any[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown);

/** Parts that follow each other; pieces of one call have its key. */
class Said {
  text = '';
  reasoning = '';
  end: string | null = null;
  readonly #calls = new Map<string | number, { name: string; json: string }>();

  call(key: string | number, name: string, json = ''): void {
    const call = this.#calls.get(key) ?? { name, json: '' };
    call.json += json;
    this.#calls.set(key, call);
  }

  heard(): Heard {
    const calls = [...this.#calls.values()].map(({ name, json }) => ({ name, input: JSON.parse(json) }));
    return { text: this.text, reasoning: this.reasoning, calls, end: this.end };
  }
}

const chatCompletions: SpokenDialect = {
  name: 'chat completions',
  path: '/v1/chat/completions',
  hasTools: true,
  cut: 'length',
  stop: 'stop',
  ask: ({ model, stream, tools, schema }) => ({
    model,
    stream,
    messages,
    ...(tools ? { tools: [functionTool], parallel_tool_calls: true } : {}),
    ...(schema ? { response_format: named } : {}),
  }),
  whole: ({ choices: [{ message, finish_reason: end }] }) => ({
    text: message.content ?? '',
    reasoning: message.reasoning_content ?? '',
    calls: (message.tool_calls ?? []).map((call: { function: { name: string; arguments: string } }) => ({
      name: call.function.name,
      input: JSON.parse(call.function.arguments),
    })),
    end,
  }),
  streamed: (text) => {
    const said = new Said();
    for (const { choices: [choice] = [] } of events(text)) {
      said.text += choice?.delta?.content ?? '';
      said.reasoning += choice?.delta?.reasoning_content ?? '';
      for (const call of choice?.delta?.tool_calls ?? [])
        said.call(call.index, call.function.name, call.function.arguments);
      said.end = choice?.svc_finish_reason ?? said.end;
    }
    return said.heard();
  },
};

const completions: SpokenDialect = {
  name: 'completions',
  path: '/v1/completions',
  hasTools: false,
  cut: 'length',
  stop: 'stop',
  ask: ({ model, stream, schema }) => ({
    model,
    stream,
    prompt: 'Go.',
    ...(schema ? { response_format: named } : {}),
  }),
  whole: ({ choices: [{ text, finish_reason: end }] }) => ({ ...nothing, text, end }),
  streamed: (text) => {
    const choices = events(text).flatMap((event) => event.choices ?? []);
    return {
      ...nothing,
      text: choices.map((choice) => choice.text).join(''),
      end: choices.findLast((choice) => choice.finish_reason)?.finish_reason ?? null,
    };
  },
};

const responses: SpokenDialect = {
  name: 'responses',
  path: '/v1/responses',
  hasTools: true,
  cut: 'incomplete',
  stop: 'completed',
  ask: ({ model, stream, tools, schema }) => ({
    model,
    stream,
    input: 'Go.',
    ...(tools ? { tools: [{ type: 'function', ...TOOL }] } : {}),
    ...(schema ? { text: { format: { type: 'json_schema', name: 'a', schema: SCHEMA } } } : {}),
  }),
  whole: (body) => {
    const said = new Said();
    for (const item of body.output) {
      for (const part of item.content ?? [])
        said[item.type === 'message' ? 'text' : 'reasoning'] += part.text;
      if (item.type === 'function_call') said.call(item.call_id, item.name, item.arguments);
    }
    said.end = body.status;
    return said.heard();
  },
  streamed: (text) => {
    const said = new Said();
    for (const event of events(text)) {
      if (event.type === 'response.output_text.delta') said.text += event.delta;
      if (event.type === 'response.reasoning_text.delta') said.reasoning += event.delta;
      if (event.type === 'response.output_item.done' && event.item.type === 'function_call')
        said.call(event.item.call_id, event.item.name, event.item.arguments);
      const [, end] = /^response\.(completed|incomplete|failed)$/.exec(event.type) ?? [];
      if (end === 'failed') expect(['failed', 'cancelled']).toContain(event.response.status);
      said.end = end ?? said.end;
    }
    return said.heard();
  },
};

const anthropic: SpokenDialect = {
  name: 'messages',
  path: '/v1/messages',
  hasTools: true,
  cut: 'max_tokens',
  stop: 'end_turn',
  ask: ({ model, stream, tools, schema }) => ({
    model,
    stream,
    messages,
    max_tokens: 50,
    ...(tools ? { tools: [{ name: TOOL.name, input_schema: TOOL.parameters }] } : {}),
    ...(schema ? { output_config: { format: { type: 'json_schema', schema: SCHEMA } } } : {}),
  }),
  whole: ({ content, stop_reason: end }) => {
    const said = new Said();
    for (const block of content) {
      if (block.type === 'text') said.text += block.text;
      if (block.type === 'thinking') said.reasoning += block.thinking;
      if (block.type === 'tool_use') said.call(block.id, block.name, JSON.stringify(block.input));
    }
    said.end = end;
    return said.heard();
  },
  streamed: (text) => {
    const said = new Said();
    for (const { type, index, content_block: block, delta } of events(text)) {
      if (type === 'content_block_start' && block.type === 'tool_use') said.call(index, block.name);
      if (delta?.type === 'input_json_delta') said.call(index, '', delta.partial_json);
      said.text += delta?.text ?? '';
      said.reasoning += delta?.thinking ?? '';
      said.end = delta?.stop_reason ?? said.end;
    }
    return said.heard();
  },
};

const ollamaCall = ({
  function: { name, arguments: input },
}: {
  function: { name: string; arguments: unknown };
}) => ({
  name,
  input,
});

/** Both of Ollama's answers: lines of one shape, whose words lie in one member or beside it. */
function ollama({
  question,
  inner,
  text,
  ...rest
}: Pick<SpokenDialect, 'name' | 'path' | 'hasTools'> & {
  readonly question: object;
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  readonly inner: (line: any) => any;
  readonly text: string;
}): SpokenDialect {
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  const heard = (all: readonly any[]): Heard => {
    const parts = all.map((line) => inner(line) ?? {});
    return {
      text: parts.map((part) => part[text] ?? '').join(''),
      reasoning: parts.map((part) => part.thinking ?? '').join(''),
      calls: parts.flatMap((part) => (part.tool_calls ?? []).map(ollamaCall)),
      end: all.findLast((line) => line.done_reason)?.done_reason ?? null,
    };
  };
  return {
    ...rest,
    cut: 'length',
    stop: 'stop',
    ask: ({ model, stream, tools, schema }) => ({
      model,
      stream,
      ...question,
      ...(tools ? { tools: [functionTool] } : {}),
      ...(schema ? { format: SCHEMA } : {}),
    }),
    whole: (body) => heard([body]),
    streamed: (sent) => heard(lines(sent)),
  };
}

const ollamaChat = ollama({
  name: 'Ollama chat',
  path: '/api/chat',
  hasTools: true,
  question: { messages },
  inner: ({ message }) => message,
  text: 'content',
});

const ollamaGenerate = ollama({
  name: 'Ollama generate',
  path: '/api/generate',
  hasTools: false,
  question: { prompt: 'Go.' },
  inner: (line) => line,
  text: 'response',
});

const native: SpokenDialect = {
  name: 'llama-server',
  path: '/completion',
  hasTools: false,
  cut: 'limit',
  stop: 'eos',
  ask: ({ model, stream, schema }) => ({
    model,
    stream,
    prompt: 'Go.',
    ...(schema ? { json_schema: SCHEMA } : {}),
  }),
  whole: ({ content: text, stop_type: end }) => ({ ...nothing, text, end }),
  streamed: (text) => {
    const all = events(text);
    return {
      ...nothing,
      text: all.map(({ content }) => content ?? '').join(''),
      end: all.findLast((event) => event.stop_type)?.stop_type ?? null,
    };
  },
};

export const DIALECTS: readonly SpokenDialect[] = [
  chatCompletions,
  completions,
  responses,
  anthropic,
  ollamaChat,
  ollamaGenerate,
  native,
];
