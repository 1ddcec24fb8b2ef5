/** One unreadable tool among good ones: it is relaxed and named, and the others are served as ever. */
import { describe, expect, it } from 'vitest';
import type { JobEvent } from '../../src/contract/job-event.ts';
import { done, started } from '../support/http/scripted-engine.ts';
import { scriptedService } from '../support/http/scripted-service.ts';
import { ODD_SCHEMAS, type OddSchema, READABLE_SCHEMAS } from '../support/odd-schemas.ts';

const service = scriptedService();
const strict = scriptedService({ strictParams: true });

const good = (name: string) => ({
  type: 'function',
  function: {
    name,
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    },
  },
});
const among = ({ parameters }: OddSchema) => [
  good('first'),
  { type: 'function', function: { name: 'odd', parameters } },
  good('last'),
];
const calling = (name: string, args: object): JobEvent[] => [
  started(),
  { type: 'tool_call', name },
  { type: 'tool_arguments', text: JSON.stringify(args) },
  done('tool_calls'),
];
const header = ({ named }: OddSchema): string | undefined =>
  named.length === 0
    ? undefined
    : named
        .map((place) => `odd${place}`)
        .join(', ')
        .replaceAll('(', '%28');

async function called(tools: object[], ...answers: JobEvent[][]) {
  service.engine.forgetScripts();
  service.engine.plays(...answers);
  const { status, body, headers } = await service.client.chat({ tools, max_tokens: 500 });
  return {
    status,
    code: body.code as string | undefined,
    relaxed: headers['x-svc-relaxed'],
    args: body.choices?.[0]?.message.tool_calls?.[0]?.function.arguments as string | undefined,
  };
}

describe.each([...ODD_SCHEMAS, ...READABLE_SCHEMAS])('$what', (odd) => {
  const tools = among(odd);

  it('is served, named, and checked as far as it can be read', async () => {
    expect(await called(tools, calling('odd', odd.allowed))).toEqual({
      status: 200,
      code: undefined,
      relaxed: header(odd),
      args: JSON.stringify(odd.allowed),
    });
    if (odd.forbidden === undefined) return;
    const wrong = calling('odd', odd.forbidden);
    expect((await called(tools, wrong, wrong)).code).toBe('answer_invalid');
  });

  it('leaves the tools around it as they are', async () => {
    for (const name of ['first', 'last']) {
      expect((await called(tools, calling(name, { city: 'Oslo' }))).args).toBe('{"city":"Oslo"}');
      const wrong = calling(name, { town: 'Oslo' });
      expect((await called(tools, wrong, wrong)).code).toBe('answer_invalid');
    }
  });

  it('is a 400 with its place where the operator wants it to be', async () => {
    strict.engine.forgetScripts();
    strict.engine.plays(calling('odd', odd.allowed));
    const { status, body } = await strict.client.chat({ tools });
    const place = expect.stringMatching(/^tools\[1\]\.function\.parameters/) as unknown;
    expect([status, body.param]).toEqual(odd.named.length === 0 ? [200, undefined] : [400, place]);
  });
});
