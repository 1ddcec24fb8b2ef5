/** Records that their owner signed with the true key and that are not true: a replay must not pass them. */
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { responseSha256 } from '../../src/trust/evidence/record.ts';
import { EVIDENCE_PAYLOAD_TYPE, type Statement } from '../../src/trust/evidence/statement.ts';
import { canonicalSha256, sha256Hex } from '../../src/trust/identity/canonical.ts';
import { seal } from '../../src/trust/identity/dsse.ts';
import { loadIdentity } from '../../src/trust/identity/instance.ts';
import { EvidenceService } from '../support/records/evidence-service.ts';

let service: EvidenceService;
beforeAll(async () => {
  service = await EvidenceService.create({ tiny: { contextLength: 2048 } });
  await service.start();
});
afterAll(() => service.remove());

const request = {
  model: 'tiny',
  messages: [{ role: 'user', content: 'Count on forever, grüße 世界.' }],
  max_tokens: 24,
};
const callRequest = {
  ...request,
  tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }],
  tool_choice: 'required',
  max_tokens: 100,
};

/** What a forger changes; the digests of the response and of the tokens are then computed anew. */
interface Draft {
  // oxlint-disable-next-line typescript/no-explicit-any -- forgers write what they like
  readonly body: any;
  readonly statement: Statement;
  tokens: Buffer;
}

/** The arguments that verify a saved answer. */
async function saved(name: string, body: object): Promise<string[]> {
  const { reply, args } = await service.saveFrozen(name, body);
  expect(reply.status).toBe(200);
  return args;
}

async function forged(name: string, asked: object, change: (draft: Draft) => void): Promise<string[]> {
  const args = await saved(name, asked);
  const body = JSON.parse(await readFile(path.join(service.folder, `${name}.json`), 'utf8'));
  const draft: Draft = {
    body,
    statement: JSON.parse(Buffer.from(body.evidence.payload, 'base64').toString()),
    tokens: Buffer.from(body.evidence.output_tokens, 'base64'),
  };
  change(draft);
  const { statement, tokens } = draft;
  statement.subject[0].digest.sha256 = responseSha256(body);
  statement.subject[1].digest.sha256 = statement.predicate.output.tokens_sha256 = sha256Hex(tokens);
  const { keys } = await loadIdentity({ home: path.join(service.folder, 'svc') });
  const envelope = seal(keys, EVIDENCE_PAYLOAD_TYPE, Buffer.from(JSON.stringify(statement)));
  await service.save(`${name}.json`, {
    ...body,
    evidence: { ...envelope, output_tokens: tokens.toString('base64') },
  });
  return args;
}

/** Signs a record over another request than the one that made its tokens. */
function claimRequest({ statement }: Draft, asked: object): void {
  statement.predicate.request.raw_body_sha256 = sha256Hex(JSON.stringify(asked));
  statement.predicate.request.canonical_sha256 = canonicalSha256(asked);
}

describe('an answer that its tokens do not say', () => {
  it('is found where the text was replaced, by either replay', async () => {
    const verify = await forged('text', request, ({ body }) => {
      body.choices[0].message.content = 'I never said this.';
    });
    expect((await service.cli(verify)).code).toBe(0);
    for (const replay of ['--replay', '--cheap']) {
      expect(await service.cli([...verify, replay])).toMatchObject({
        code: 1,
        stdout: expect.stringMatching(/BAD L[34] answer/),
      });
    }
  });

  it.each<[string, object, (draft: Draft) => void]>([
    [
      'the finish reason was changed',
      request,
      ({ body, statement }) => {
        body.choices[0].finish_reason = body.choices[0].svc_finish_reason = 'stop';
        statement.predicate.output.finish_reason = 'stop';
      },
    ],
    [
      'the usage was changed',
      request,
      ({ body }) => {
        body.usage.completion_tokens_details.reasoning_tokens = 5;
      },
    ],
    [
      'another tool was called',
      callRequest,
      ({ body }) => {
        body.choices[0].message.tool_calls[0].function.name = 'delete';
      },
    ],
    [
      'a log probability was changed',
      { ...request, logprobs: true },
      ({ body }) => {
        body.choices[0].logprobs.content[0].logprob -= 1;
      },
    ],
  ])('is found by a full replay where %s', async (_, asked, change) => {
    const verify = await forged('part', asked, change);
    expect(await service.cli([...verify, '--replay'])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('BAD L3 answer'),
    });
  });

  it('is found by a cheap replay where the end was cut off', async () => {
    const verify = await forged('cut', request, (draft) => {
      const { body, statement } = draft;
      draft.tokens = draft.tokens.subarray(0, 8);
      statement.predicate.output.n_tokens = body.usage.completion_tokens = 2;
      body.usage.total_tokens = body.usage.prompt_tokens + 2;
    });
    expect(await service.cli([...verify, '--cheap'])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('BAD L4 answer'),
    });
  });

  it.each<[string, (draft: Draft) => void]>([
    ['finish reason', ({ body }) => (body.choices[0].finish_reason = 'stop')],
    ['number of tokens', ({ statement }) => (statement.predicate.output.n_tokens += 1)],
    ['length of the prompt', ({ body }) => (body.usage.prompt_tokens += 1)],
    ['model', ({ body }) => (body.model = 'default')],
  ])('is found without a replay where statement and response name another %s', async (_, change) => {
    const verify = await forged('parts', request, change);
    expect(await service.cli(verify)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('BAD L1 statement'),
    });
  });
});

describe('sampling that was not asked for', () => {
  const sampledBy = { ...request, temperature: 3, seed: 4242 };

  it('is found without a replay', async () => {
    const verify = await forged('picked', sampledBy, (draft) => claimRequest(draft, request));
    await service.save('picked.request.json', JSON.stringify(request));
    for (const replay of [[], ['--replay']]) {
      const { code, stdout } = await service.cli([...verify, ...replay]);
      expect(code).toBe(1);
      expect(stdout).toMatch(/BAD L1 sampling: seed: 4242 .*temperature: 3 .*defaulted: \[\]/);
    }
  });

  it.each<[string, Partial<Statement['predicate']['sampling']>]>([
    ['seed', { seed: 4242 }],
    ['num_predict', { num_predict: 25 }],
    ['top_k', { top_k: 1 }],
    ['stop_sha256', { stop_sha256: canonicalSha256([]) }],
    ['defaulted', { defaulted: [] }],
  ])('is found in %s', async (name, change) => {
    const asked = { ...request, temperature: 0.5, top_k: 20, stop: ['zzz'] };
    const verify = await forged('setting', asked, ({ statement }) =>
      Object.assign(statement.predicate.sampling, change),
    );
    expect(await service.cli(verify)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(`BAD L1 sampling: ${name}`),
    });
  });

  it('is told where the request leaves it to the model', async () => {
    const verify = await forged('told', request, ({ statement }) => {
      statement.predicate.sampling.top_k = 1;
    });
    expect(await service.cli(verify)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('top_k 1 is a default of the model'),
    });
  });

  it('is found by a full replay where other samplers are named', async () => {
    const verify = await forged('chain', { ...request, temperature: 0.9 }, ({ statement }) => {
      statement.predicate.sampling.chain = ['greedy'];
    });
    expect(await service.cli([...verify, '--replay'])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('BAD L3 sampling'),
    });
    expect((await service.cli([...verify, '--cheap'])).code).toBe(2);
  });
});

it('an honest answer with log probabilities passes a cheap replay, which computes none', async () => {
  const verify = await saved('honest', { ...request, stop: [' we'], logprobs: true, top_logprobs: 2 });
  expect(await service.cli([...verify, '--cheap'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('verified at L4'),
  });
});

it('equal tokens with other logits fail the replay of a folder on equal terms', async () => {
  await mkdir(path.join(service.folder, 'folder'));
  await forged('folder/trace', request, ({ statement }) => {
    statement.predicate.output.trace_sha256 = '0'.repeat(64);
  });
  expect(await service.cli(['evidence', 'replay', 'folder'])).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/same tokens, 24 tokens differing: trace/),
  });
});

describe('the replay of a folder whose records came from an older installation', () => {
  const olderServer = ({ statement }: Draft): void => {
    statement.predicate.server.server_source_sha256 = '0'.repeat(64);
  };
  const otherCpu = ({ statement }: Draft): void => {
    statement.predicate.backend.cpu_features = 'another';
  };
  const otherLogits = ({ statement }: Draft): void => {
    statement.predicate.output.trace_sha256 = '0'.repeat(64);
  };
  const otherWords = ({ body }: Draft): void => {
    body.choices[0].message.content = 'The older server read this from the same tokens.';
  };
  const otherLogprob = ({ body }: Draft): void => {
    body.choices[0].logprobs.content[0].logprob -= 1;
  };
  const withLogprobs = { ...request, logprobs: true };

  it.each<[string, object, ((draft: Draft) => void)[], number, RegExp]>([
    ['nothing else differs', request, [olderServer], 0, /: exact, 24 tokens,/],
    [
      'it reads other words from the same tokens',
      request,
      [olderServer, otherWords],
      1,
      /: same tokens, 24 tokens differing: words,/,
    ],
    [
      'it reads other words and the logits differ',
      request,
      [olderServer, otherLogits, otherWords],
      1,
      /: same tokens, 24 tokens differing: trace, words,/,
    ],
    ['only the CPU is another', withLogprobs, [otherCpu], 0, /: exact, 24 tokens \[.*cpu features/],
    [
      'the logits differ on another CPU',
      request,
      [otherCpu, otherLogits],
      0,
      /: same tokens, 24 tokens \[.*cpu features/,
    ],
    [
      'the log probabilities differ on another CPU',
      withLogprobs,
      [otherCpu, otherLogprob],
      0,
      /: same tokens, 24 tokens differing: log probabilities \[.*cpu features/,
    ],
    [
      'the words differ on another CPU',
      request,
      [otherCpu, otherWords],
      1,
      /: same tokens, 24 tokens differing: words \[.*cpu features/,
    ],
    [
      'the log probabilities differ on equal terms',
      withLogprobs,
      [otherLogprob],
      1,
      /: same tokens, 24 tokens differing: log probabilities,/,
    ],
  ])('where %s', async (_, asked, changes, code, stdout) => {
    const folder = path.join(service.folder, 'older');
    await mkdir(folder, { recursive: true });
    await forged('older/record', asked, (draft) => {
      for (const change of changes) change(draft);
    });
    expect(await service.cli(['evidence', 'replay', 'older'])).toMatchObject({
      code,
      stdout: expect.stringMatching(stdout),
    });
  });
});

it('a claim of more threads than this machine can run is not comparable', async () => {
  const verify = await forged('threads', request, ({ statement }) => {
    statement.predicate.exec.n_threads = 900;
  });
  expect(await service.cli([...verify, '--replay', '--threads', '900'])).toMatchObject({
    code: 2,
    stdout: expect.stringContaining('it ran with 900 threads'),
  });
});

it('a claim that the worker here cannot run is not comparable', async () => {
  const long = { ...request, messages: [{ role: 'user', content: 'word '.repeat(300) }] };
  const verify = await forged('window', long, ({ statement }) => {
    statement.predicate.exec.n_ctx = 256;
  });
  expect(await service.cli([...verify, '--replay'])).toMatchObject({
    code: 2,
    stdout: expect.stringContaining('n/c L3 replay'),
  });
});
