/**
 * One story with the two models that ship: a greeting, a question, a tool call and the answer from its result, the same
 * question as evidence, and a search by meaning. What is asserted is what an answer must hold, in whatever words.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../contract/requirements.ts';
import { Installation, type Served } from '../support/process/installation.ts';

let installation: Installation;
let served: Served;
beforeAll(async () => {
  installation = await Installation.make();
  served = await installation.serve({ SVC_NUM_THREADS: '1' });
});
afterAll(() => installation.remove());

const user = (content: string) => ({ role: 'user', content });
const greedy = { model: 'hearth-mini', temperature: 0, max_tokens: 96 };
const question = { ...greedy, messages: [user('What is Hearth?')] };

const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Get the weather of a city',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string', description: 'Name of the city' } },
      required: ['city'],
      additionalProperties: false,
    },
  },
};
const asked = user('What is the weather in Oslo?');

describe('a first conversation with hearth-mini', () => {
  it('greets, as a stream', async () => {
    const stream = await served.client.streamChat({ ...greedy, messages: [user('Hello!')] });
    const { text, done, chunks } = await stream.all();
    verifies('stream.done', () => expect(done).toBe(true));
    verifies('stream.text', () => expect(text).toMatch(/\bhello\b.*\bhearth-mini\b/is));
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop');
  });

  it('says what Hearth is, and the same again', async () => {
    const [first, second] = [await served.client.chat(question), await served.client.chat(question)];
    const [{ message, finish_reason }] = first.body.choices;
    expect(finish_reason).toBe('stop');
    expect(second.body.choices[0].message.content).toBe(message.content);
    for (const fact of [/\blocal/i, /\bGGUF\b/, /\bembeddings\b/i]) expect(message.content).toMatch(fact);
  });

  it('calls a tool, and answers from its result', async () => {
    const fields = { ...greedy, tools: [weather] };
    const calling = await served.client.chat({ ...fields, messages: [asked], tool_choice: 'required' });
    expect(calling.body.choices[0].finish_reason).toBe('tool_calls');
    const calls = calling.body.choices[0].message.tool_calls;
    expect(calls).toHaveLength(1);
    const [call] = calls;
    expect(call.function.name).toBe('get_weather');
    expect(JSON.parse(call.function.arguments)).toEqual({ city: 'Oslo' });
    // The fact can only come from the result: another result, another fact.
    for (const sky of ['cloudy', 'clear']) {
      const result = { role: 'tool', tool_call_id: call.id, content: `{"celsius":7,"sky":"${sky}"}` };
      const turns = [asked, calling.body.choices[0].message, result];
      const answer = await served.client.chat({ ...fields, messages: turns, tool_choice: 'none' });
      const [{ message, finish_reason }] = answer.body.choices;
      expect([finish_reason, message.tool_calls]).toEqual(['stop', undefined]);
      expect(message.content).toMatch(new RegExp(`\\b${sky}\\b`));
    }
  });

  it('gives the same question an answer with evidence, which is verified up to the replay', async () => {
    const body = JSON.stringify(question);
    const headers = { 'content-type': 'application/json', 'x-svc-evidence-mode': 'frozen-v1' };
    const reply = await served.client.post('/v1/chat/completions', body, headers);
    expect([reply.status, reply.headers['x-svc-evidence-mode']]).toEqual([200, 'frozen-v1']);
    const ordinary = await served.client.chat(question);
    expect(reply.body.choices[0].message.content).toBe(ordinary.body.choices[0].message.content);
    const [request, response] = [save('request.json', body), save('response.json', reply.text)];
    const flags = ['--request', request, '--replay', '--json'];
    const { code, stdout } = await installation.run(['evidence', 'verify', response, ...flags], {
      SVC_NUM_THREADS: '1',
    });
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { verdict: 'verified', level: 'L3' }]);
    // Another home, in which no server ever ran, has the same built-in model.
    const pubkey = save('pub.pem', (await installation.run(['evidence', 'pubkey'])).stdout);
    const elsewhere = await installation.run(
      ['evidence', 'verify', response, ...flags, '--pubkey', pubkey],
      installation.anotherHome(),
    );
    expect([elsewhere.code, JSON.parse(elsewhere.stdout)]).toMatchObject([0, { level: 'L3' }]);
  });
});

describe('a search by meaning with hearth-embed', () => {
  const passages = [
    'Bread: knead flour, water and yeast, let the dough rise, and bake it in a hot oven.',
    'Bicycle: a flat tyre is mended by patching the tube before the wheel is put back.',
    'Garden: water the tomatoes in the evening and cut the roses in early spring.',
    'Money: compare the interest of both banks before you take out a loan for a house.',
    'Health: for a sore throat drink warm tea, rest, and see a doctor if the fever stays.',
    'Travel: the night train to the coast leaves from the central station at ten.',
  ];

  it.each([
    ['Which medicine helps when I am ill and cough?', 'Health'],
    ['How do I make a loaf in the kitchen?', 'Bread'],
    ['When should I look after my plants and flowers?', 'Garden'],
  ])('finds the passage for: %s', async (query, heading) => {
    const { body, headers } = await served.client.embed({
      model: 'hearth-embed',
      input: [query, ...passages],
    });
    verifies('embeddings.backend-header', () => expect(headers['x-svc-embed-backend']).toBe('native'));
    const [asking, ...vectors] = body.data.map(({ embedding }: { embedding: number[] }) => embedding);
    const likeness = vectors.map((vector: number[]) => dot(asking, vector));
    const best = passages[likeness.indexOf(Math.max(...likeness))];
    expect(best).toMatch(new RegExp(`^${heading}:`));
  });
});

function save(name: string, text: string): string {
  const file = path.join(installation.folder, name);
  writeFileSync(file, text);
  return file;
}

const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);

it('a long list of texts holds up no other request for vectors', async () => {
  const { client } = served;
  const embed = (input: string | string[]) => client.embed({ model: 'hearth-embed', input });
  const running = async (): Promise<string | undefined> => {
    const metrics = await (await fetch(`${served.url}/metrics`)).text();
    return /^hearth_model_slots_busy\{model="hearth-embed"\} (\d+)$/m.exec(metrics)?.[1];
  };
  const alone = await embed('Who keeps the lamp?');
  await expect.poll(running).toBe('0');
  const list = embed(Array.from({ length: 300 }, (_, at) => `${at} lamps stood by the door. `.repeat(12)));
  await expect.poll(running).toBe('1');
  const single = await embed('Who keeps the lamp?');
  // The list goes on.
  expect(await running()).toBe('1');
  expect(single.body.data[0].embedding).toEqual(alone.body.data[0].embedding);
  expect((await list).body.data).toHaveLength(300);
});
