import { describe, expect, it } from 'vitest';
import type { AnswerPart } from './answer.ts';
import { AnswerReader } from './answer-reader.ts';
import { EnvelopeBody, textBody, JsonStringReader } from './body-readers.ts';
import { FormatBody } from './calls/format-body.ts';
import { formatOfTemplate } from '../../../test/support/formats.ts';

const marks = { open: '<think>', close: '</think>' };

/** Pieces beginning with "!" are control tokens. */
function read(reader: AnswerReader, pieces: readonly string[]): AnswerPart[] {
  const parts = pieces.flatMap((piece) =>
    piece.startsWith('!') ? reader.control(piece.slice(1)) : reader.text(piece),
  );
  return [...parts, ...reader.end(false)];
}

describe('thinking', () => {
  it('is told apart by control tokens', () => {
    const reader = new AnswerReader({ at: 'choice', marks }, textBody(false));
    expect(read(reader, ['!<think>', '\nhm', ' hm\n', '!</think>', '\n\n', 'Yes', '.'])).toEqual([
      { type: 'reasoning', text: 'hm' },
      { type: 'reasoning', text: ' hm' },
      { type: 'text', text: 'Yes' },
      { type: 'text', text: '.' },
    ]);
  });

  it('is told apart by marks that are spelled out', () => {
    const reader = new AnswerReader({ at: 'choice', marks }, textBody(false));
    const parts = read(reader, [' <', 'thi', 'nk>a <', '/b> c</th', 'ink> ', ' Yes']);
    expect(parts.map((part) => ('text' in part ? `${part.type}:${part.text}` : part.type)).join('|')).toBe(
      'reasoning:a|reasoning: </b> c|text:Yes',
    );
  });

  it('that never ends leaves no text', () => {
    const reader = new AnswerReader({ at: 'open', marks }, textBody(false));
    expect(read(reader, ['a</thi']).every(({ type }) => type === 'reasoning')).toBe(true);
    expect(reader.thinking).toBe(true);
  });

  it.each([
    ['spelled out', ['\n<th', 'ink>\na', ' <think> b</think>', 'Yes']],
    ['as a token', ['!<think>', '\na <think> b', '!</think>', 'Yes']],
  ])('has no mark in it that repeats the one of the prompt: %s', (_, pieces) => {
    const reader = new AnswerReader({ at: 'open', marks }, textBody(false));
    const textOf = (wanted: string) => (part: AnswerPart) =>
      part.type === wanted && 'text' in part ? part.text : '';
    const parts = read(reader, pieces);
    expect(parts.map(textOf('reasoning')).join('')).toBe('a <think> b');
    expect(parts.map(textOf('text')).join('')).toBe('Yes');
  });

  it('is not seen where an answer only mentions the mark', () => {
    const reader = new AnswerReader({ at: 'choice', marks }, textBody(false));
    expect(read(reader, ['Use <think> so'])).toEqual([{ type: 'text', text: 'Use <think> so' }]);
  });
});

describe('control tokens', () => {
  it('are silent in plain text', () => {
    const reader = new AnswerReader({ at: 'nowhere' }, textBody(false));
    expect(read(reader, ['a', '!<|im_start|>', 'b'])).toEqual([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ]);
  });

  it('are their text where a grammar chose that text', () => {
    const reader = new AnswerReader({ at: 'nowhere' }, textBody(true));
    expect(read(reader, ['"', '!<|x|>', '"'])).toContainEqual({ type: 'text', text: '<|x|>' });
  });

  it('open a call when they are the mark of the format', () => {
    const tools = [{ name: 'f', description: '', parameters: {} }];
    const body = new FormatBody({ format: formatOfTemplate('mistral'), tools, maxCalls: 1, shaped: false });
    const reader = new AnswerReader({ at: 'nowhere' }, body);
    expect(read(reader, ['So: ', '![TOOL_CALLS]', '[{"name": "f", ', '"arguments": {"a": 1}}', ']'])).toEqual(
      [
        { type: 'text', text: 'So:' },
        { type: 'tool_call', name: 'f' },
        { type: 'tool_arguments', text: '{"a": 1}' },
      ],
    );
    expect([reader.calledTool, reader.complete]).toEqual([true, true]);
  });
});

describe('the envelope', () => {
  it('is unwrapped to text, escapes and pairs kept whole', () => {
    const reader = new AnswerReader({ at: 'nowhere' }, new EnvelopeBody());
    const parts = read(reader, [
      '{"svc_tool_envelope":1,',
      '"text":"a\\',
      'nb \\ud83d',
      '\\ude00 \\u00e',
      '9"}',
    ]);
    expect(parts.map((part) => ('text' in part ? part.text : '')).join('')).toBe('a\nb 😀 é');
    expect([reader.complete, reader.calledTool]).toEqual([true, false]);
  });

  it('reports log probabilities for its text only', () => {
    const reader = new AnswerReader({ at: 'nowhere' }, new EnvelopeBody());
    expect(reader.inText).toBe(false);
    reader.text('{"svc_tool_envelope":1,"text":"a');
    expect(reader.inText).toBe(true);
    reader.text('"}');
    expect(reader.inText).toBe(false);
  });
});

describe('a JSON string in pieces', () => {
  it('is decoded as JSON.parse would, however it is cut', () => {
    for (const text of ['a"b\\c\n\t', '😀😀', '\u0007é', 'lone \ud800 half', '']) {
      const content = JSON.stringify(text).slice(1);
      for (let size = 1; size <= 7; size += 1) {
        const reader = new JsonStringReader();
        let out = '';
        for (let at = 0; at < content.length; at += size) out += reader.push(content.slice(at, at + size));
        expect(out).toBe(text.toWellFormed());
        expect(reader.closed).toBe(true);
      }
    }
  });
});
