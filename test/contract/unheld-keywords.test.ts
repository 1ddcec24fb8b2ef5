/** Keywords that the tool format of a model leaves to the check are named, in whole answers and streams of every dialect. */
import { expect, it } from 'vitest';
import { done, started, text } from '../support/http/scripted-engine.ts';
import { scriptedService } from '../support/http/scripted-service.ts';

const service = scriptedService();
const schema = {
  type: 'object',
  properties: { a: { type: 'string', pattern: '^a$' }, b: { uniqueItems: true } },
};
const named = { name: 'f', description: 'd' };
const keyword = (pointer: string, name: string) => ({ tool: 'f', pointer, keyword: name });
const begun = {
  ...started(),
  unheld: [keyword('/properties/a', 'pattern'), keyword('/properties/b', 'uniqueItems')],
};
const messages = [{ role: 'user', content: 'Hi' }];
const tools = [{ type: 'function', function: { ...named, parameters: schema } }];

it.each([
  ['/v1/chat/completions', { messages, tools }],
  ['/v1/messages', { messages, max_tokens: 9, tools: [{ ...named, input_schema: schema }] }],
  ['/v1/responses', { input: 'Hi', tools: [{ type: 'function', ...named, parameters: schema }] }],
])('%s names each once in X-Svc-Relaxed', async (path, fields) => {
  const ask = async (stream: boolean, event: typeof begun | ReturnType<typeof started>) => {
    service.engine.plays([event, text('a'), done()]);
    const { headers } = await service.client.post(path, { model: 'default', stream, ...fields });
    return String(headers['x-svc-relaxed']).split(', ').toSorted();
  };
  const both = ['f#/properties/a/pattern', 'f#/properties/b/uniqueItems'];
  expect(await ask(false, begun)).toEqual(both);
  expect(await ask(true, begun)).toEqual(both);
  expect(await ask(false, started())).toEqual(['f#/properties/b/uniqueItems']);
});

it('counts those behind the first 24', async () => {
  const unheld = Array.from({ length: 30 }, (_, index) => keyword(`/properties/p${index}`, 'pattern'));
  for (const stream of [false, true]) {
    const event = { ...begun, unheld };
    service.engine.plays([event, text('a'), done()]);
    const { headers } = await service.client.chat({ messages, tools, stream });
    expect(String(headers['x-svc-relaxed'])).toMatch(/, \+7 more$/);
  }
});
