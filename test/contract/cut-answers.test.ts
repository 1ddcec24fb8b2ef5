/**
 * Answers that end early, by every cause and in every dialect, at each event: what the client has of them is the beginning
 * of the answer, no call is in part, and the end is told in the words of the dialect.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import type { JobEvent } from '../../src/contract/job-event.ts';
import { fail } from '../../src/lib/errors/svc-error.ts';
import { addKey } from '../../src/store/keys/key-file.ts';
import { DIALECTS, type Heard } from '../support/http/dialects.ts';
import { done, gate, type Script, started, text } from '../support/http/scripted-engine.ts';
import { scriptedService } from '../support/http/scripted-service.ts';

const service = scriptedService();

interface Told {
  readonly events: readonly JobEvent[];
  readonly fields: { readonly tools?: boolean; readonly schema?: boolean };
  /** What the answer says if nothing cuts it. */
  readonly whole: Pick<Heard, 'text' | 'reasoning' | 'calls'>;
}

const reasoning = (piece: string): JobEvent => ({ type: 'reasoning', text: piece });
const call = (...pieces: string[]): JobEvent[] => [
  { type: 'tool_call', name: 'ban' },
  ...pieces.map((piece): JobEvent => ({ type: 'tool_arguments', text: piece })),
];
const bans = (who: string) => ({ name: 'ban', input: { who } });

const ANSWERS: Readonly<Record<string, Told>> = {
  text: {
    events: [text('né '), text('😀 ok')],
    fields: {},
    whole: { text: 'né 😀 ok', reasoning: '', calls: [] },
  },
  'JSON of a schema': {
    events: [text('{"a":'), text('"né'), text('😀"}')],
    fields: { schema: true },
    whole: { text: '{"a":"né😀"}', reasoning: '', calls: [] },
  },
  'calls behind thinking': {
    events: [
      reasoning('hm '),
      reasoning('yes'),
      ...call('{"who"', ':"Al"', '}'),
      ...call('{"who":', '"Bo"}'),
    ],
    fields: { tools: true },
    whole: { text: '', reasoning: 'hm yes', calls: [bans('Al'), bans('Bo')] },
  },
  'a call behind text': {
    events: [text('I ban '), text('Al.'), ...call('{"who":"', 'Al"}')],
    fields: { tools: true },
    whole: { text: 'I ban Al.', reasoning: '', calls: [bans('Al')] },
  },
};

const PASSED: readonly string[] = ['text', 'JSON of a schema'];
const rows = DIALECTS.flatMap((dialect) =>
  Object.entries(ANSWERS)
    .filter(([name]) => dialect.hasTools || PASSED.includes(name))
    .map(([name, told]) => [dialect.name, name, dialect, told] as const),
);

/** With named keys, every client has one. */
const admin: Record<string, string> = {};
let keys = 0;

beforeAll(async () => {
  admin['authorization'] = `Bearer ${await newKey({})}`;
});

async function newKey(limits: { readonly tokensPerDay?: number }): Promise<string> {
  const rights = { name: `key${(keys += 1)}`, admin: false, localOnly: false, ...limits };
  return (await addKey(service.home, rights, Date.now())).key;
}

/** The answer up to each of its events. */
const beginnings = ({ events }: Told): JobEvent[][] => events.map((_, count) => events.slice(0, count));

function expectBeginning(heard: Heard, { whole }: Told): void {
  expect(whole.text.startsWith(heard.text), heard.text).toBe(true);
  expect(whole.reasoning.startsWith(heard.reasoning), heard.reasoning).toBe(true);
  expect(heard.text.isWellFormed()).toBe(true);
  expect(heard.calls).toEqual(whole.calls.slice(0, heard.calls.length));
}

describe.each(rows)('%s: %s', (_name, _answer, dialect, told) => {
  const asked = (stream: boolean) => dialect.ask({ model: 'default', stream, ...told.fields });

  it('is told whole where nothing cuts it', async () => {
    for (const stream of [false, true]) {
      const heard = await hear([started(), ...told.events, done()], stream);
      expect(heard).toMatchObject(told.whole);
    }
  });

  it('that a limit cuts says so', async () => {
    for (const events of beginnings(told)) {
      for (const stream of [false, true]) {
        const heard = await hear([started(), ...events, done('length')], stream);
        expectBeginning(heard, told);
        expect(heard.end, JSON.stringify(heard)).toBe(dialect.cut);
      }
    }
  });

  it('that what a key has left cuts says so', async () => {
    const headers = { authorization: `Bearer ${await newKey({ tokensPerDay: 40 })}` };
    const script: Script = ({ job }) => {
      expect(job).toHaveProperty('mostTokens');
      return [started(), ...told.events.slice(0, -1), done('length')];
    };
    const heard = await hear(script, true, headers);
    expectBeginning(heard, told);
    expect(heard.end).toBe(dialect.cut);
  });

  it('whose engine fails or is late is an error, and never passes as its end', async () => {
    const causes = [
      fail('worker_hung', { model: 'm', reason: 'silent' }),
      fail('upstream_broken', { upstream: 'box', what: 'cut', reason: 'it ended' }),
      fail('upstream_timeout', { upstream: 'box', phase: 'stall', seconds: 1 }),
    ];
    for (const cause of causes) {
      for (const events of beginnings(told)) {
        service.engine.plays([started(), ...events, cause]);
        const whole = await service.client.post(dialect.path, asked(false), admin);
        expect(whole.status, whole.text).toBe(503);
        service.engine.plays([started(), ...events, cause]);
        const { received, isCut } = await untilCut(dialect.path, asked(true));
        const heard = dialect.streamed(received);
        expectBeginning(heard, told);
        expect(isCut, received).toBe(true);
        expect([null, 'failed'], received).toContain(heard.end);
      }
    }
  });

  it('whose client leaves stops, and nothing of it is kept', async () => {
    for (const events of beginnings(told)) {
      for (const stream of [false, true]) {
        const held = gate();
        service.engine.plays([started(), ...events, held.opened]);
        const leave = new AbortController();
        const next = service.engine.nextJob();
        const sent = fetch(service.url + dialect.path, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...admin },
          body: JSON.stringify(asked(stream)),
          signal: leave.signal,
        }).then((response) => response.text());
        const { ended } = await next;
        leave.abort();
        await expect(sent).rejects.toThrow();
        expect(await ended).toBe('aborted');
      }
    }
  });

  async function hear(
    script: Script,
    stream: boolean,
    headers: Record<string, string> = admin,
  ): Promise<Heard> {
    service.engine.plays(script);
    const reply = await service.client.post(dialect.path, asked(stream), headers);
    expect(reply.status, reply.text).toBe(200);
    return stream ? dialect.streamed(reply.text) : dialect.whole(reply.body);
  }
});

const responses = rows.filter(([name]) => name === 'responses');

describe.each(responses)('%s in the background: %s', (_name, _answer, dialect, told) => {
  it('that is cancelled keeps what was whole, and no part of a call', async () => {
    for (const events of beginnings(told)) {
      for (const stream of [false, true]) {
        const held = gate();
        service.engine.plays([started(), ...events, held.opened]);
        const body = { ...dialect.ask({ model: 'default', stream, ...told.fields }), background: true };
        const next = service.engine.nextJob();
        const { id, text: received } = await (stream
          ? streamedId(dialect.path, body)
          : wholeId(dialect.path, body));
        const { ended } = await next;
        const at = `${dialect.path}/${id}`;
        const cancelled = await service.client.ask({ method: 'POST', path: `${at}/cancel`, headers: admin });
        expect(cancelled.body.status).toBe('cancelled');
        expect(await ended).toBe('aborted');
        await expect.poll(async () => (await service.client.get(at, admin)).body.status).toBe('cancelled');
        const kept = (await service.client.get(at, admin)).body;
        expectBeginning(dialect.whole(kept), told);
        for (const item of kept.output) expect(item.status).toBe('completed');
        if (stream) expectBeginning(dialect.streamed(await received()), told);
      }
    }
  });
});

async function wholeId(path: string, body: object) {
  const reply = await service.client.post(path, body, admin);
  return { id: String(reply.body.id), text: async () => '' };
}

async function streamedId(path: string, body: object) {
  const response = await post(path, body);
  const reader = response.body?.getReader();
  let received = '';
  let id: string | undefined;
  while (id === undefined) {
    const { value } = (await reader?.read()) ?? {};
    received += Buffer.from(value ?? []).toString();
    [, id] = /"id":"(resp_[^"]+)"/.exec(received) ?? [];
  }
  const text = async (): Promise<string> => {
    try {
      for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read())
        received += Buffer.from(part.value).toString();
    } catch {
      // A cancelled answer breaks off.
    }
    return received;
  };
  return { id, text };
}

const post = (path: string, body: object) =>
  fetch(service.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...admin },
    body: JSON.stringify(body),
  });

/** Reads what comes until the transfer is cut or over. */
async function untilCut(path: string, body: object) {
  const response = await post(path, body);
  expect(response.status).toBe(200);
  let received = '';
  try {
    for await (const chunk of response.body ?? []) received += Buffer.from(chunk).toString();
  } catch {
    return { isCut: true, received };
  }
  return { isCut: false, received };
}
