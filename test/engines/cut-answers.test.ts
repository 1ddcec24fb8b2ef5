/**
 * An upstream that cuts its answers: by breaking off behind any of its events, or by a limit. In every dialect, no part of a
 * call and no half of a character passes, and a broken answer never looks like a complete one.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DIALECTS, type Heard } from '../support/http/dialects.ts';
import { type ScriptedUpstream, startUpstream } from '../support/upstream/scripted-upstream.ts';
import { type EngineService, startEngines } from '../support/upstream/service.ts';

let upstream: ScriptedUpstream;
let engines: EngineService;

beforeAll(async () => {
  upstream = await startUpstream();
  upstream.models = ['script'];
  engines = await startEngines({});
  await engines.add({ name: 'box', baseUrl: `${upstream.url}/v1` }, upstream.models.map(String));
});

afterAll(async () => {
  await engines.close();
  await upstream.close();
});

const event = (delta: object, finish: string | null = null): string =>
  // A chat reads the delta, a completion the text.
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, text: Reflect.get(delta, 'content') ?? '', finish_reason: finish }] })}\n\n`;
const says = (content: string): string => event({ content });
const thinks = (reasoning_content: string): string => event({ reasoning_content });
const calls = (index: number, text: string, name?: string): string =>
  event({ tool_calls: [{ index, id: `c${index}`, type: 'function', function: { name, arguments: text } }] });
const end = (finish: string): string => `${event({}, finish)}data: [DONE]\n\n`;

const ANSWERS = {
  text: {
    events: [says('né '), says('😀'), says(' ok')],
    fields: {},
    text: 'né 😀 ok',
    reasoning: '',
    calls: [],
  },
  'halves of a character': {
    events: [says('a\ud83d'), says('\ude00b'), says('\ud83d'), says('\ude00')],
    fields: {},
    text: 'a😀b😀',
    reasoning: '',
    calls: [],
  },
  'JSON of a schema': {
    events: [says('{"a":"'), says('é\ud83d'), says('\ude00"'), says('}')],
    fields: { schema: true },
    text: '{"a":"é😀"}',
    reasoning: '',
    calls: [],
  },
  'calls behind thinking': {
    events: [
      thinks('so \ud83d'),
      thinks('\ude00'),
      calls(0, '{"who"', 'ban'),
      calls(0, ':"Al"}'),
      calls(1, '{"who":"\ud83d', 'ban'),
      calls(1, '\ude00"}'),
    ],
    fields: { tools: true },
    text: '',
    reasoning: 'so 😀',
    calls: [
      { name: 'ban', input: { who: 'Al' } },
      { name: 'ban', input: { who: '😀' } },
    ],
  },
} as const;
type Told = (typeof ANSWERS)[keyof typeof ANSWERS];

const rows = DIALECTS.flatMap((dialect) =>
  Object.entries(ANSWERS)
    .filter(([, { fields }]) => dialect.hasTools || !('tools' in fields))
    .map(([name, told]) => [dialect.name, name, dialect, told] as const),
);

function expectBeginning(heard: Heard, whole: Told): void {
  expect(whole.text.startsWith(heard.text), JSON.stringify(heard.text)).toBe(true);
  expect(whole.reasoning.startsWith(heard.reasoning), JSON.stringify(heard.reasoning)).toBe(true);
  expect(heard.calls).toEqual(whole.calls.slice(0, heard.calls.length));
}

describe.each(rows)('%s: %s', (_name, _answer, dialect, told) => {
  const beginnings = told.events.map((_, count) => told.events.slice(0, count).join(''));
  const finish = 'tools' in told.fields ? 'tool_calls' : 'stop';

  it('passes whole where nothing cuts it', async () => {
    for (const stream of [false, true]) {
      upstream.script = told.events.join('') + end(finish);
      const { status, body } = await ask(stream);
      const { text, reasoning, calls: called } = told;
      expect(status, body).toBe(200);
      expect(heardOf(stream, body)).toMatchObject({ text, reasoning, calls: called });
    }
  });

  it('that a limit of the upstream cuts says so', async () => {
    for (const beginning of beginnings) {
      for (const stream of [false, true]) {
        upstream.script = beginning + end('length');
        const { status, body } = await ask(stream);
        expect(status, body).toBe(200);
        const heard = heardOf(stream, body);
        // A call that was cut is asked for once more; this upstream then says its first one, and is cut again behind it.
        const isAgain = heard.end !== dialect.cut;
        if (isAgain) expect([beginning.includes('"ban"'), heard.calls.at(-1)]).toEqual([true, told.calls[0]]);
        expectBeginning(isAgain ? { ...heard, calls: heard.calls.slice(0, -1) } : heard, told);
      }
    }
  });

  it('that breaks off is an error, and never passes as complete', async () => {
    for (const beginning of beginnings) {
      upstream.script = beginning;
      const whole = await ask(false);
      expect(whole.status, whole.body).toBe(503);
      const { status, body, isCut } = await ask(true);
      // Before its first event nothing was sent.
      if (beginning === '') {
        expect(status, body).toBe(503);
        continue;
      }
      const heard = dialect.streamed(body);
      expectBeginning(heard, told);
      expect([null, 'failed'], body).toContain(heard.end);
      expect(isCut, body).toBe(true);
    }
  });

  const heardOf = (stream: boolean, body: string): Heard =>
    stream ? dialect.streamed(body) : dialect.whole(JSON.parse(body));

  async function ask(stream: boolean) {
    const response = await fetch(engines.service.url + dialect.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(dialect.ask({ model: 'box/script', stream, ...told.fields })),
    });
    const { status } = response;
    let body = '';
    try {
      for await (const chunk of response.body ?? []) body += Buffer.from(chunk).toString();
    } catch {
      return { status, body, isCut: true };
    }
    return { status, body, isCut: false };
  }
});
