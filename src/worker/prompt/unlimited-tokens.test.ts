import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { generateJob } from '../../../test/support/engine/jobs.ts';
import { scriptedBackend, scriptedSpec } from '../../../test/support/engine/scripted-backend.ts';
import type { GenerateJob } from '../../contract/job.ts';
import { loadChat } from '../load/chat.ts';
import type { ChatModel } from '../model.ts';
import { prepareChat } from '../prepare.ts';
import { openTemplate } from './template.ts';
import { unlimitedTokens } from './unlimited-tokens.ts';
import { promptWriter } from './writer.ts';

const WINDOW = 4096;
const END = 256;
const { backend } = scriptedBackend(() => new Uint8Array());

/** A model with this template whose vocabulary has these texts as end tokens. */
async function modelOf(template: string | undefined, ends: readonly string[]): Promise<ChatModel> {
  const chat = await loadChat(backend, { ...scriptedSpec, numCtx: WINDOW }, () => undefined);
  const { vocabulary: plain } = chat.writer;
  const vocabulary = {
    ...plain,
    eosText: ends[0] ?? '',
    endTokens: ends.length === 0 ? [] : [END],
    tokenizeNext: (text: string) =>
      ends.some((end) => text.includes(end)) ? Uint32Array.of(END) : plain.tokenizeNext(text),
  };
  return { ...chat, vocabulary, writer: promptWriter(openTemplate(template), vocabulary) };
}

const loop = (turn: string): string => `{% for m in messages %}${turn}{% endfor %}`;
const MARKED = loop('<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n');
const PLAIN = loop('{{ m.role }}: {{ m.content }}\n');
const REFUSES =
  "{% if messages | length > 1 %}{{ raise_exception('one turn') }}{% endif %}{{ messages[0].content }}";

const CASES: readonly (readonly [string, string | undefined, readonly string[], number | null])[] = [
  ['a template that ends turns with an end token', MARKED, ['<|im_end|>'], null],
  ['a mark that is no end token of the file', MARKED, ['</s>'], 4096],
  ['a template without an end of turns', PLAIN, ['</s>'], 4096],
  ['a template that takes one turn', REFUSES, ['</s>'], null],
  ['no end token', MARKED, [], 1024],
  ['the stand-in, which has stop strings', undefined, ['</s>'], null],
];

describe('the default limit of a chat', () => {
  it.each(CASES)('with %s', async (_, template, ends, limit) => {
    const model = await modelOf(template, ends);
    expect(unlimitedTokens(model.writer)).toBe(limit);
  });

  it('is not there for templates of known makers', async () => {
    const folder = new URL('../../../test/corpus/templates/', import.meta.url);
    const ends =
      '<|im_end|> </s> <|eot_id|> <|end|> <|user|> <end_of_turn> <turn|> <|endoftext|> <|assistant_end|> <seed:eos> <end_of_sentence> <｜end▁of▁sentence｜> <|end_of_text|>'.split(
        ' ',
      );
    const unlike: string[] = [];
    for (const name of readdirSync(folder).filter((each) => each.endsWith('.jinja'))) {
      const { writer } = await modelOf(readFileSync(new URL(name, folder), 'utf8'), ends);
      if (unlimitedTokens(writer) !== null) unlike.push(name);
    }
    // Its end token is an empty line, which other templates write between turns.
    expect(unlike).toEqual(['llama-cpp-rwkv-world.jinja']);
  });
});

describe('an answer of a model without an end token', () => {
  const limitOf = async (fields: Partial<GenerateJob>, ends: readonly string[] = []): Promise<number> => {
    const model = await modelOf(MARKED, ends);
    return prepareChat(model, generateJob({ maxTokens: null, ...fields })).maxTokens;
  };
  const chat: Partial<GenerateJob> = { prompt: { kind: 'chat', turns: [{ role: 'user', content: 'hi' }] } };
  const text: Partial<GenerateJob> = { prompt: { kind: 'text', text: 'hi' } };

  it('has the default limit in chats and in text, unless the request names another or none', async () => {
    expect(await limitOf(chat)).toBe(1024);
    expect(await limitOf(text)).toBe(1024);
    expect(await limitOf({ ...chat, maxTokens: 7 })).toBe(7);
    expect(await limitOf({ ...chat, maxTokens: 2000 })).toBe(2000);
    expect(await limitOf({ ...chat, isUnlimited: true })).toBeGreaterThan(2000);
    expect(await limitOf({ ...chat, mostTokens: 100 })).toBeLessThan(100);
  });

  it('has the window where there is an end token', async () => {
    expect(await limitOf(chat, ['<|im_end|>'])).toBeGreaterThan(2000);
    expect(await limitOf(text, ['</s>'])).toBeGreaterThan(2000);
  });
});
