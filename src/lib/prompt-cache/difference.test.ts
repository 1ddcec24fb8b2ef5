/** Pairs of prompts as a template writes them, a token for each few characters. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { differenceOf, mostAlike, type SeenPrompt } from './difference.ts';
import { partAt, partsOf, type PromptMessage } from './parts.ts';

interface Conversation {
  readonly messages: readonly PromptMessage[];
  readonly tools?: readonly string[];
  /** The answer to it, as the model said it. */
  readonly answer?: string;
  /** Characters of a token. */
  readonly tokenUnits?: number;
}

const system = (content: string): PromptMessage => ({ role: 'system', content });
const user = (content: string): PromptMessage => ({ role: 'user', content });
const said = (content: string): PromptMessage => ({ role: 'assistant', content });

function render({ messages, tools = [] }: Conversation): string {
  const block = tools.map((name) => `{"name": ${JSON.stringify(name)}, "description": "Does ${name}."}\n`);
  const [first, ...rest] = messages.map(({ role, content }) => `<|im_start|>${role}\n${content}<|im_end|>\n`);
  const toolTurn = block.length === 0 ? [] : [`<|im_start|>system\n# Tools\n${block.join('')}<|im_end|>\n`];
  return [first, ...toolTurn, ...rest, '<|im_start|>assistant\n'].join('');
}

/** A vocabulary that knows every piece of text it is given. */
const known: string[] = [];
const tokenOf = (piece: string): number => {
  const at = known.indexOf(piece);
  return at >= 0 ? at : known.push(piece) - 1;
};
/** Marks and line breaks are tokens of their own. */
const pieces = (text: string, units: number): string[] =>
  text.match(new RegExp(`<\\|\\w+\\|>|\\n|[^\\n<]{1,${units}}|<`, 'g')) ?? [];

function seen(conversation: Conversation): SeenPrompt {
  const { messages, tools = [], answer = '', tokenUnits = 4 } = conversation;
  const prompt = render(conversation);
  const tokens = [...pieces(prompt, 4), ...pieces(answer, tokenUnits)].map(tokenOf);
  return {
    tokens,
    text: prompt + answer,
    words: { messages, tools: tools.map((name) => ({ name })) },
    thinking: { open: '<think>', close: '</think>' },
    say: (from, to) =>
      tokens
        .slice(Math.max(0, from), to)
        .map((token) => known[token])
        .join(''),
  };
}

const difference = (before: Conversation, now: Conversation) => differenceOf(seen(before), seen(now));

const base: Conversation = {
  messages: [
    system('You help with code, and you are brief about it.'),
    user('Read the file notes.txt, please.'),
  ],
  tools: ['read_file', 'write_file', 'run'],
  answer: 'It says hello.<|im_end|>',
};
const followUp = (changes: Partial<Conversation> = {}): Conversation => ({
  ...base,
  answer: '',
  messages: [...base.messages, said('It says hello.'), user('Thanks.')],
  ...changes,
});

describe('two prompts', () => {
  it('that continue each other do not part', () => {
    expect(difference(base, followUp())).toBeNull();
    expect(difference(followUp(), { ...base, answer: '' })).toBeNull();
  });

  it('part where the tools come in another order', () => {
    const found = difference(base, followUp({ tools: ['write_file', 'read_file', 'run'] }));
    expect(found).toMatchObject({
      cause: 'tools_reordered',
      place: { kind: 'tool', index: 0, name: 'write_file' },
      isHistory: true,
    });
    expect(found?.shared.endsWith('{"name": "')).toBe(true);
    expect([found?.before, found?.now].map((text) => text?.slice(0, 5))).toEqual(['read_', 'write']);
  });

  it.each<[string, string[], object]>([
    ['in the middle', ['read_file', 'run'], { index: 1, name: 'run' }],
    ['at the end', ['read_file', 'write_file'], { index: 2, name: 'run' }],
    ['and all others', [], { index: 0, name: 'read_file' }],
  ])('part where a tool is missing %s', (_where, tools, place) => {
    const found = difference(base, followUp({ tools }));
    expect(found).toMatchObject({
      cause: 'tools_changed',
      place: { kind: 'tool', ...place },
      isHistory: true,
    });
  });

  it('part where tools were added', () => {
    const found = difference({ ...base, tools: [] }, followUp());
    expect(found).toMatchObject({
      cause: 'tools_changed',
      place: { kind: 'tool', index: 0, name: 'read_file' },
    });
  });

  it.each([
    [
      'timestamp',
      'The time is 2026-11-23T02:17:23Z. Be brief.',
      'The time is 2026-11-23T02:18:59Z. Be brief.',
    ],
    ['timestamp', 'Now: 9:05 AM\nBe brief.', 'Now: 10:15 AM\nBe brief.'],
    ['timestamp', 'Today is Sunday, November 22, 2026.', 'Today is Monday, November 23, 2026.'],
    ['volatile_line', 'x-anthropic-billing-header: cch=1a;\nHi.', 'x-anthropic-billing-header: cch=2b;\nHi.'],
    ['volatile_line', 'session-token: 0192abcd\nHi.', 'session-token: 7743ffee\nHi.'],
    ['text_changed', 'You are in folder alpha. Be brief.', 'You are in folder beta. Be brief.'],
    ['text_changed', 'Be brief.', 'Be brief.\nIt is 9:05.'],
    ['text_changed', 'The time is 9:05, be brief.', 'The time is 9:06, be long.'],
  ])('part in the system prompt: %s', (cause, one, other) => {
    const found = difference(
      { ...base, messages: [system(one), user('Hi there, this is me.')] },
      { ...base, messages: [system(other), user('Hi there, this is me.')] },
    );
    expect(found).toMatchObject({
      cause,
      place: { kind: 'message', index: 0, name: 'system' },
      isHistory: true,
    });
    expect(found?.now.slice(0, 4)).not.toBe(found?.before.slice(0, 4));
  });

  it('part where thinking was left out', () => {
    const answer = '<think>\nThe user wants the file.\n</think>\n\nIt says hello to everybody.<|im_end|>';
    const messages = [...base.messages, said('It says hello to everybody.'), user('Thanks.')];
    expect(difference({ ...base, answer }, { ...base, messages })).toMatchObject({
      cause: 'thinking_dropped',
      place: { kind: 'message', index: 2, name: 'assistant' },
      isHistory: true,
    });
    const other = [...base.messages, said('Something else entirely.'), user('Thanks.')];
    expect(difference({ ...base, answer }, { ...base, messages: other })?.cause).toBe('text_changed');
  });

  it('part where thinking before a call was left out', () => {
    const call = '<tool_call>\n{"name": "run", "arguments": {}}\n</tool_call>';
    const messages = [...base.messages, said(call), user('Thanks.')];
    const answer = `<think>\nThe user wants the file.\n</think>\n\n${call}<|im_end|>`;
    expect(difference({ ...base, answer }, { ...base, messages })).toMatchObject({
      cause: 'thinking_dropped',
      place: { kind: 'message', index: 2, name: 'assistant' },
    });
  });

  it('of other conversations part without a change of history, whatever their system prompts say', () => {
    const other = {
      messages: [system('You help with cooking.'), user('What is for dinner?'), said('Soup.')],
    };
    expect(difference(base, other)).toMatchObject({ cause: 'text_changed', isHistory: false });
    const same = { messages: [system('You help with cooking.'), ...followUp().messages.slice(1)] };
    expect(difference(base, same)).toMatchObject({ cause: 'text_changed', isHistory: true });
  });

  it('part where an answer came back in other tokens', () => {
    const answer = 'It says hello to everybody who comes by, and then it asks how they are.<|im_end|>';
    const messages = [...base.messages, said(answer.replace('<|im_end|>', '')), user('Thanks.')];
    const found = difference({ ...base, answer, tokenUnits: 3 }, { ...base, messages });
    expect(found).toMatchObject({ cause: 'answer_retokenised', place: { kind: 'message', index: 2 } });
    expect(found?.before.slice(0, 40)).toBe(found?.now.slice(0, 40));
  });

  it('part at another question, which is not history', () => {
    const messages = [base.messages[0] ?? system(''), user('What is the weather?')];
    expect(difference(base, { ...base, messages })).toMatchObject({
      cause: 'text_changed',
      place: { kind: 'message', index: 1, name: 'user' },
      isHistory: false,
    });
  });

  it('are found among others: the most alike, of equals the newest', () => {
    const now = seen(followUp());
    const other = seen({ messages: [user('Something else.')] });
    const [one, same] = [seen(base), seen(base)];
    expect(mostAlike([other, one, same], now.tokens)?.prompt).toBe(same);
    expect(mostAlike([], now.tokens)).toBeNull();
  });

  it('is the one that a look at every token finds', () => {
    const tokens = fc.array(fc.nat({ max: 1 }), { maxLength: 8 });
    fc.assert(
      fc.property(fc.array(tokens, { maxLength: 8 }), tokens, (earlier, now) => {
        const prompts = earlier.map((each) => ({ tokens: each }));
        const commonOf = (each: readonly number[]): number => {
          const differs = each.findIndex((token, at) => token !== now[at]);
          return differs < 0 ? each.length : differs;
        };
        const most = Math.max(0, ...earlier.map(commonOf));
        const last = prompts.findLast((prompt) => commonOf(prompt.tokens) === most);
        const found = mostAlike(prompts, now);
        expect(found?.prompt).toBe(last);
        expect(found?.common ?? 0).toBe(most);
      }),
    );
  });
});

describe('parts of a prompt', () => {
  it('are the messages and tools, each where its words stand', () => {
    const conversation = followUp();
    const text = render(conversation);
    const parts = partsOf(text, seen(conversation).words);
    const named = parts.map(({ kind, index, name, start, end }) => [
      kind,
      index,
      name,
      text.slice(start, end),
    ]);
    expect(named.filter(([kind]) => kind === 'message').map(([, index, , words]) => [index, words])).toEqual(
      conversation.messages.map(({ content }, index) => [index, content]),
    );
    expect(named.filter(([kind]) => kind === 'tool').map(([, index, name]) => [index, name])).toEqual([
      [0, 'read_file'],
      [1, 'write_file'],
      [2, 'run'],
    ]);
    expect(partAt(parts, text.indexOf('Does write_file'))).toMatchObject({
      kind: 'tool',
      name: 'write_file',
    });
    expect(partAt(parts, 3)).toBeNull();
  });

  it('are the same up to a position where those behind it are left out', () => {
    const messages = Array.from({ length: 6 }, (_, at) => ({
      role: 'user',
      content: `words of message ${at}`,
    }));
    const text = messages.map(({ content }) => `<user>${content}\n`).join('');
    const all = partsOf(text, { messages, tools: [] });
    for (let at = 0; at < text.length; at += 1) {
      const some = partsOf(text, { messages, tools: [] }, at);
      expect(partAt(some, at)).toEqual(partAt(all, at));
      expect(some.length).toBeLessThanOrEqual(all.length);
    }
    expect(partsOf(text, { messages, tools: [] }, 0).length).toBe(1);
  });

  it('do not mistake a few words inside of others', () => {
    const messages = [system('This is highly important.'), user('hi')];
    const text = render({ messages });
    const [, part] = partsOf(text, { messages, tools: [] });
    expect(part?.start).toBe(text.lastIndexOf('\nhi<') + 1);
  });

  it('are not looked for without end', () => {
    const messages = Array.from({ length: 4096 }, (_, at) => user(`message ${at} that no template wrote`));
    expect(partsOf('x'.repeat(8 * 1024 * 1024), { messages, tools: [] })).toEqual([]);
  });
});
