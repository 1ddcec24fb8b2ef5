import type { GenerateJob, ToolDefinition, Turn } from '../../../contract/job.ts';

export interface CheckCase {
  readonly name: string;
  readonly kind: 'call' | 'json' | 'render';
  readonly job: Pick<GenerateJob, 'prompt'> & Partial<GenerateJob>;
  readonly texts?: readonly string[];
}

type Schema = Readonly<Record<string, unknown>>;

const TEXT: Schema = { type: 'string', maxLength: 24 };

const PROPERTIES: Readonly<Record<string, readonly [ask: string, schema: Schema]>> = {
  text: ['the city Oslo', TEXT],
  integer: ['3 days', { type: 'integer', minimum: 1, maximum: 99 }],
  number: ['half a litre', { type: 'number' }],
  flag: ['true', { type: 'boolean' }],
  'listed words': ['the unit celsius', { enum: ['celsius', 'kelvin'] }],
  'a constant': ['version v1', { const: 'v1' }],
  'text or null': ['null', { anyOf: [{ type: 'string', maxLength: 12 }, { type: 'null' }] }],
  'a date': ['1 May 2026', { type: 'string', format: 'date' }],
  'a pattern': ['the code AB-12', { type: 'string', pattern: '^[A-Z]{2}-[0-9]{2}$' }],
  'a list of words': ['the tags red and blue', { type: 'array', items: TEXT, maxItems: 3 }],
  'a list of numbers': [
    '1, 2 and 3',
    { type: 'array', items: { type: 'integer' }, minItems: 1, maxItems: 3 },
  ],
  'an object': [
    'the point 1, 2',
    {
      type: 'object',
      properties: { x: { type: 'integer' }, y: { type: 'integer' } },
      required: ['x', 'y'],
      additionalProperties: false,
    },
  ],
  'a list of objects': [
    'one item named tea',
    {
      type: 'array',
      maxItems: 2,
      items: { type: 'object', properties: { name: TEXT }, required: ['name'], additionalProperties: false },
    },
  ],
  'quotes in text': ['the words "he said <no>"', TEXT],
};

const CALLS: readonly CheckCase[] = Object.entries(PROPERTIES).map(([name, [ask, schema]]) => ({
  name: `call with ${name}`,
  kind: 'call',
  job: {
    prompt: asking(`Call the tool with ${ask}.`),
    tools: [tool('use_value', { value: schema }, ['value'])],
    toolChoice: { mode: 'required' },
  },
}));

const WEATHER = tool('get_weather', { city: TEXT, days: { type: 'integer', minimum: 1, maximum: 9 } }, [
  'city',
]);
const CLOCK = tool('get_time', {}, []);
const FETCH = tool('db.fetch-row', { key: TEXT }, ['key']);

const CHOICES: readonly CheckCase[] = [
  choice('no arguments', 'What time is it?', [CLOCK], { mode: 'required' }),
  choice('an optional argument', 'Weather in Oslo?', [WEATHER], { mode: 'required' }),
  choice('one of two tools', 'What time is it?', [WEATHER, CLOCK], { mode: 'required' }),
  choice('the named tool', 'Weather in Oslo?', [WEATHER, CLOCK], { mode: 'named', name: 'get_weather' }),
  choice('a name with signs', 'Fetch the row k1.', [FETCH], { mode: 'required' }),
  choice('one of three tools', 'Fetch the row k1.', [WEATHER, CLOCK, FETCH], { mode: 'required' }),
];

const JSON_ANSWERS: readonly CheckCase[] = Object.entries(PROPERTIES)
  .slice(0, 12)
  .map(([name, [ask, schema]]) => ({
    name: `JSON with ${name}`,
    kind: 'json',
    job: {
      prompt: asking(`Answer in JSON with ${ask}.`),
      format: {
        kind: 'json_schema',
        schema: {
          type: 'object',
          properties: { value: schema },
          required: ['value'],
          additionalProperties: false,
        },
      },
    },
  }));

const RESULT: Turn = { role: 'tool', content: 'result 7401', toolCallId: 'call_1', name: 'get_weather' };
const ASKED: Turn = { role: 'user', content: 'Weather in Oslo?' };

const HISTORIES: readonly CheckCase[] = [
  history('a call and its result', [ASKED, called(''), RESULT], ['get_weather', 'Oslo', 'result 7401']),
  history(
    'words beside a call',
    [ASKED, called('I look.'), RESULT],
    ['I look.', 'get_weather', 'result 7401'],
  ),
  history('a system turn', [{ role: 'system', content: 'Be brief 7402.' }, ASKED], ['Be brief 7402.']),
  history(
    'tools beside a system turn',
    [{ role: 'system', content: 'Be brief 7402.' }, ASKED],
    ['Be brief 7402.', 'Weather of a city 7403.'],
  ),
  history(
    'an answer after a result',
    [ASKED, called(''), RESULT, { role: 'assistant', content: 'Mild 7404.' }, ASKED],
    ['result 7401', 'Mild 7404.'],
  ),
  history('several turns', [ASKED, { role: 'assistant', content: 'Mild 7404.' }, ASKED], ['Mild 7404.']),
  history(
    'signs of JSON in a result',
    [ASKED, called(''), { ...RESULT, content: '{"t": 7}' }],
    ['get_weather', 't'],
  ),
  history('another script', [{ role: 'user', content: '今日は 7405' }], ['今日は 7405']),
];

/** Kinds alternate, so that a slow machine tries each one within its minute. */
export const CHECK_CASES: readonly CheckCase[] = [
  ...HISTORIES,
  ...[...CHOICES, ...CALLS].flatMap((each, index) => [each, ...JSON_ANSWERS.slice(index, index + 1)]),
];

function choice(
  name: string,
  ask: string,
  tools: readonly ToolDefinition[],
  toolChoice: GenerateJob['toolChoice'],
): CheckCase {
  return { name: `call: ${name}`, kind: 'call', job: { prompt: asking(ask), tools: [...tools], toolChoice } };
}

function history(name: string, turns: readonly Turn[], texts: readonly string[]): CheckCase {
  const job = {
    prompt: { kind: 'chat' as const, turns: [...turns] },
    tools: [WEATHER],
    toolChoice: { mode: 'auto' as const },
  };
  return { name: `history: ${name}`, kind: 'render', job, texts };
}

function called(content: string): Turn {
  const toolCalls = [{ id: 'call_1', name: 'get_weather', argumentsJson: '{"city":"Oslo"}' }];
  return { role: 'assistant', content, toolCalls };
}

function asking(content: string): GenerateJob['prompt'] {
  return { kind: 'chat', turns: [{ role: 'user', content }] };
}

function tool(name: string, properties: Schema, required: readonly string[]): ToolDefinition {
  const description = name === 'get_weather' ? 'Weather of a city 7403.' : '';
  return {
    name,
    description,
    parameters: { type: 'object', properties, required, additionalProperties: false },
  };
}
