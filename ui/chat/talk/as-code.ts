import type { ChatRequest } from '../../../src/wire/inference/chat.ts';

export const LANGUAGES = ['curl', 'JavaScript', 'Python'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Fields that OpenAI's libraries know; Python takes others by `extra_body`. */
const KNOWN = new Set([
  'model',
  'messages',
  'temperature',
  'top_p',
  'max_tokens',
  'seed',
  'stop',
  'tools',
  'tool_choice',
  'response_format',
  'reasoning_effort',
]);

export interface Endpoint {
  readonly origin: string;
  readonly hasKey: boolean;
}

export function asCode(language: Language, request: ChatRequest, endpoint: Endpoint): string {
  switch (language) {
    case 'curl':
      return curl(request, endpoint);
    case 'JavaScript':
      return javaScript(request, endpoint);
    case 'Python':
      return python(request, endpoint);
  }
}

function curl(request: ChatRequest, { origin, hasKey }: Endpoint): string {
  // In single quotes, a shell interprets only the quote itself.
  const quoted = `'${JSON.stringify(request, null, 2).replaceAll("'", String.raw`'\''`)}'`;
  return [
    `curl ${origin}/v1/chat/completions`,
    "-H 'Content-Type: application/json'",
    ...(hasKey ? ['-H "Authorization: Bearer $SVC_API_KEY"'] : []),
    `-d ${quoted}`,
  ].join(' \\\n  ');
}

function javaScript(request: ChatRequest, { origin, hasKey }: Endpoint): string {
  const key = hasKey ? 'process.env.SVC_API_KEY' : "'unused'";
  return `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${origin}/v1', apiKey: ${key} });
const answer = await client.chat.completions.create(${JSON.stringify(request, null, 2)});
console.log(answer.choices[0].message);
`;
}

function python(request: ChatRequest, { origin, hasKey }: Endpoint): string {
  const fields = Object.entries(request);
  const known = fields.filter(([name]) => KNOWN.has(name));
  const further = fields.filter(([name]) => !KNOWN.has(name));
  const lines = known.map(([name, value]) => `    ${name}=${pythonValue(value, 1)},`);
  if (further.length > 0) lines.push(`    extra_body=${pythonValue(Object.fromEntries(further), 1)},`);
  return `${hasKey ? 'import os\n' : ''}from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key=${hasKey ? 'os.environ["SVC_API_KEY"]' : '"unused"'})
answer = client.chat.completions.create(
${lines.join('\n')}
)
print(answer.choices[0].message)
`;
}

/** Python differs from JSON only in true, false and null. */
function pythonValue(value: unknown, depth: number): string {
  if (value === null) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const inner = '    '.repeat(depth + 1);
  const outer = '    '.repeat(depth);
  const parts = Array.isArray(value)
    ? value.map((item) => `${inner}${pythonValue(item, depth + 1)},`)
    : Object.entries(value).map(
        ([name, item]) => `${inner}${JSON.stringify(name)}: ${pythonValue(item, depth + 1)},`,
      );
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return parts.length === 0 ? `${open}${close}` : `${open}\n${parts.join('\n')}\n${outer}${close}`;
}
