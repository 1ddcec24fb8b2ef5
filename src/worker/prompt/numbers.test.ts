/** Numbers of arguments and tools are in the prompt as the client or a model spelled them. */
import { plainVocabulary as vocabulary } from '../../../test/support/engine/plain-vocabulary.ts';
import { describe, expect, it } from 'vitest';
import type { ToolDefinition, Turn } from '../../contract/job.ts';
import { parseSpelled } from '../../lib/json/parse-spelled.ts';
import { writeCalls } from '../../../packages/chat-templates/src/tool-format/write-calls.ts';
import type { ToolFormat } from '../../../packages/chat-templates/src/tool-format/tool-format.ts';
import { toolsBlock, withEnvelopeHistory } from './envelope.ts';
import { renderText } from './prompt.ts';
import { openTemplate } from './template.ts';
import { promptWriter } from './writer.ts';

const argumentsJson = '{"user":1234567890123456789,"w":1.0,"p":1e22,"list":[-0.0,0.10]}';
const schema = '{"type":"object","properties":{"user":{"maximum":9223372036854775807,"default":1.0}}}';
const tools = [{ name: 'f', description: '', parameters: parseSpelled(schema) }] as ToolDefinition[];
const turns: Turn[] = [
  { role: 'user', content: 'hi' },
  { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'f', argumentsJson }] },
];

function render(source: string): string {
  const writer = promptWriter(openTemplate(source), vocabulary);
  return renderText(writer, { turns, tools, variables: {}, prefill: [], clockMs: 0 }).string;
}
const withArguments = (body: string): string =>
  render(`{% set a = messages[1].tool_calls[0].function.arguments %}${body}`);

describe('numbers in a prompt', () => {
  it('are spelled as they came where a template prints arguments and tools', () => {
    expect(withArguments('{{ a | tojson(separators=(",", ":")) }}')).toBe(argumentsJson);
    expect(withArguments('{% for k, v in a.items() %}{{ k }}={{ v }};{% endfor %}')).toBe(
      'user=1234567890123456789;w=1.0;p=1e22;list=[-0.0, 0.10];',
    );
    expect(render('{{ tools[0].function.parameters | tojson(separators=(",", ":")) }}')).toBe(schema);
    // A template that wants what tools leave out gets a copy of them.
    expect(
      render('{{ tools[0].function.parameters.properties.user.description + "" }}{{ tools | tojson }}'),
    ).toContain('"maximum": 9223372036854775807, "default": 1.0');
  });

  it.each([
    ['a.user + 1', '1234567890123456790'],
    ['a.user * 2', '2469135780246913578'],
    ['a.user - (a.user - 1)', '1'],
    [
      '(a.user // 10) ~ " " ~ (a.user % 10) ~ " " ~ (-a.user // 10)',
      '123456789012345678 9 -123456789012345679',
    ],
    ['-a.user', '-1234567890123456789'],
    ['(-a.user) | abs', '1234567890123456789'],
    ['a.user | int', '1234567890123456789'],
    ['"%d" | format(a.user)', '1234567890123456789'],
    ['"{:,}".format(a.user)', '1,234,567,890,123,456,789'],
    ['a.user == a.user and a.user != a.user + 1 and a.user < a.user + 1', 'True'],
    ['a.user > 1 and a.user is integer and a.user is number and a.user is not float', 'True'],
    ['a.w == 1 and a.w is float and a.w + 1 == 2', 'True'],
    ['a.p > a.user and a.p is float and a.p / 10000000000 > 10', 'True'],
    ['{1: "one"}[a.w]', 'one'],
  ])('are numbers: %s', (expression, printed) => {
    expect(withArguments(`{{ ${expression} }}`)).toBe(printed);
  });

  it('are spelled as they came in the envelope', () => {
    expect(withEnvelopeHistory(turns)[1]?.content).toBe(
      `{"svc_tool_envelope":1,"call":{"name":"f","arguments":${argumentsJson}}}`,
    );
    expect(toolsBlock(tools)).toContain(schema);
  });

  it('are spelled as they came where calls are written without the template', () => {
    const numbers = ['1234567890123456789', '1.0', '1e22', '-0.0'];
    const value = Object.fromEntries(numbers.map((text, at) => [`k${at}`, parseSpelled(`[${text}]`)]));
    const others = [
      { as: 'json' },
      { as: 'python' },
      { as: 'quoted', quote: '<|"|>' },
      { as: 'nested', mark: '' },
      { as: 'raw' },
    ] as const;
    const argumentForms = [
      { kind: 'json', spacing: 'compact' },
      { kind: 'json', spacing: 'spaced' },
      ...others.map((form) => ({
        kind: 'tagged',
        beforeKey: '<',
        beforeValue: '>',
        afterValue: ['</>'],
        between: '',
        strings: { as: 'raw' },
        others: form,
      })),
    ];
    for (const form of argumentForms) {
      const format = {
        section: { open: '', between: '', close: '' },
        call: { before: [], after: [] },
        arguments: form,
      } as unknown as ToolFormat;
      const written = writeCalls(format, [{ name: 'f', id: '', arguments: value }]);
      const text = written.map((part) => part.text).join('');
      expect(text.match(/(?<!k|\d)-?\d[\d.e]*/g), text).toEqual(numbers);
    }
  });
});
