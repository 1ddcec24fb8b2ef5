/** Records of text completions: whole and streamed, from an exact model and from an ordinary one, verified and replayed. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  EvidenceService,
  type FrozenReply,
  outputOf,
  statementOf,
} from '../support/records/evidence-service.ts';

const ROUTE = '/v1/completions';

let service: EvidenceService;
beforeAll(async () => {
  service = await EvidenceService.create({ exact: { contextLength: 1024 }, usual: { contextLength: 1024 } });
  await service.start();
  expect(await service.cli(['set', 'exact', 'exact=on'])).toMatchObject({ code: 0 });
});
afterAll(() => service.remove());

const asked = (fields: object = {}): object => ({
  model: 'exact',
  prompt: 'the sea is calm and a small boat waits forever',
  max_tokens: 12,
  ...fields,
});

let saved = 0;
async function verify(
  answer: unknown,
  request: object,
  ...flags: string[]
): Promise<{ code: number | null; stdout: string }> {
  saved += 1;
  const args = [
    await service.save(`answer-${saved}`, answer),
    '--request',
    await service.save(`request-${saved}.json`, request),
  ];
  return service.cli(['evidence', 'verify', ...args, ...flags, '--json']);
}

describe('a record of a text completion', () => {
  it.each([
    ['a text', {}],
    [
      'drawn, with log probabilities and its prompt',
      { temperature: 1.1, seed: 3, logprobs: null, echo: true },
    ],
    ['with log probabilities', { logprobs: 4 }],
    ['of tokens', { prompt: [5, 9, 12, 40] }],
    ['of one prompt in a list', { prompt: ['forever'] }],
    ['JSON', { response_format: { type: 'json_object' }, max_tokens: 64 }],
    ['of an ordinary model', { model: 'usual' }],
  ])('verifies and replays: %s', async (_, fields) => {
    const request = asked(fields);
    const reply = await service.freeze(request, {}, ROUTE);
    expect(reply.status, reply.bytes.toString()).toBe(200);
    expect(reply.headers.get('x-svc-evidence-mode')).toBe('frozen-v1');
    expect(reply.body.object).toBe('text_completion');
    const { predicate } = statementOf(reply);
    expect(predicate.request.route).toBe(ROUTE);
    expect(predicate.prompt.template_sha256).toBeNull();
    const { code, stdout } = await verify(reply.bytes, request, '--replay');
    expect([code, stdout], stdout).toEqual([0, expect.stringContaining('"verdict": "verified"')]);
    expect(outputOf(await service.post({ ...request, svc_evidence: 'frozen-v1' }, {}, ROUTE))).toContain(
      predicate.output.trace_sha256,
    );
  });

  it.each([{}, { logprobs: 3 }, { echo: true }, { stream_options: { include_usage: true } }])(
    'is the last event of a stream that asks for it, of the whole answer: %j',
    async (fields) => {
      const request = asked({ stream: true, svc_evidence: 'frozen-v1', ...fields });
      const { bytes, headers } = await service.post(request, {}, ROUTE);
      const events = bytes.toString().trim().split('\n\n');
      expect(events.at(-1)).toBe('data: [DONE]');
      const chunks = events
        .filter((event) => event.startsWith('data: {'))
        .map((event) => JSON.parse(event.slice(6)));
      const last = chunks.at(-1);
      const said = chunks
        .flatMap(({ choices }) => choices.map(({ text }: { text: string }) => text))
        .join('');
      expect([last.object, last.choices, last.svc_answer.choices[0].text]).toEqual([
        'text_completion',
        [],
        said,
      ]);
      const { code, stdout } = await verify(bytes, request, '--replay');
      expect(code, stdout).toBe(0);
      const lie = bytes.toString().replace('"text":"', '"text":"Volga ');
      expect((await verify(lie, request)).code).toBe(1);
      const {
        stream: _,
        svc_evidence: __,
        stream_options: ___,
        ...whole
      } = request as Record<string, unknown>;
      const reply: FrozenReply = { status: 200, headers, bytes, body: last };
      expect(outputOf(await service.freeze(whole, {}, ROUTE))).toBe(outputOf(reply));
      last.svc_answer.choices[0].text += '!';
      expect((await verify(last, request)).code).toBe(1);
    },
  );

  it('does not pass for one of another route, request or answer', async () => {
    const request = asked();
    const { body } = await service.freeze(request, {}, ROUTE);
    const [choice] = body.choices;
    expect((await verify({ ...body, choices: [{ ...choice, text: 'other' }] }, request)).code).toBe(1);
    expect((await verify(body, asked({ prompt: 'other' }))).code).toBe(1);
    const shown = { ...body, choices: [{ ...choice, text: 'other' }], svc_answer: body };
    expect((await verify(shown, request)).code).toBe(1);
  });

  it('is refused of several answers, and left out where nobody asks or a stream asks in a header', async () => {
    for (const fields of [{ n: 2 }, { prompt: ['a', 'b'] }]) {
      const { status, body } = await service.freeze(asked(fields), {}, ROUTE);
      expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('exactly one answer')]);
    }
    expect((await service.post(asked(), {}, ROUTE)).body.evidence).toBeUndefined();
    const stream = await service.freeze(asked({ stream: true }), {}, ROUTE);
    expect(stream.headers.get('x-svc-evidence-mode')).toBe('none');
    expect(stream.bytes.toString()).not.toContain('"evidence"');
  });
});
