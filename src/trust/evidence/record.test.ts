/** Records: made, opened and checked without an engine; every way of altering one must show. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newEvidenceChain } from './chain.ts';
import { freezeRequest, isNonce, derivedSeed } from './freeze.ts';
import { keyringFromJson, parseKeyring, type Keyring, ROTATION_PAYLOAD_TYPE } from './keyring.ts';
import { buildEvidence, type EvidenceFacts } from './record.ts';
import { contentDigest } from '../../server/http/handlers/chat.ts';
import { readKeyHistory, rotateKey } from './rotation.ts';
import { EVIDENCE_PAYLOAD_TYPE, Statement } from './statement.ts';
import {
  checkBindings,
  checkChain,
  checkSignature,
  conclude,
  openRecord,
  parseStatement,
  type Verdict,
} from './verify.ts';
import { isOnPath } from '../../lib/files/program.ts';
import { leftOut } from '../../../test/support/left-out.ts';
import { canonicalJson, canonicalSha256, sha256Hex } from '../identity/canonical.ts';
import { seal, signPayload } from '../identity/dsse.ts';
import { loadIdentity, newInstanceKeys } from '../identity/instance.ts';

const hasPython = await isOnPath('python3', process.env['PATH']);
import { Check } from 'typebox/value';
import {
  requestBody,
  requestBytes,
  sampleFacts,
  sampleIdentity,
  sampleResponse,
} from '../../../test/support/records/sample-record.ts';

type Json = Record<string, unknown>;

const keyringFor = (facts: EvidenceFacts): Keyring => parseKeyring(facts.identity.keys.publicKeyPem);

/** When the sample is signed. */
const SIGNED_MS = sampleFacts().nowMs;

function verify(file: unknown, keyring: Keyring | null, bytes: Buffer | null = requestBytes): Verdict {
  const record = openRecord(file);
  const { findings, statement } = checkSignature(record, keyring, parseStatement);
  const request = bytes === null ? null : { bytes, value: JSON.parse(bytes.toString()) as unknown };
  return conclude([
    ...findings,
    ...(statement === null ? [] : checkBindings({ record, statement, request })),
  ]);
}

const payloadOf = (member: { payload: string }): Json =>
  JSON.parse(Buffer.from(member.payload, 'base64').toString()) as Json;

/** Every leaf below a value as a path. */
function leaves(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([key, member]) =>
    leaves(member, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}

function altered<T>(value: T, path: readonly (string | number)[]): T {
  const copy = structuredClone(value);
  let owner = copy as unknown as Record<string | number, unknown>;
  for (const step of path.slice(0, -1)) owner = owner[step] as Record<string | number, unknown>;
  const last = path.at(-1) ?? '';
  owner[last] = other(owner[last]);
  return copy;
}

function other(value: unknown): unknown {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'string')
    return value === '' ? 'x' : value.slice(0, -1) + (value.endsWith('0') ? '1' : '0');
  return 'x';
}

describe('a record', () => {
  it('holds what its schema says, and no text of prompt or answer', () => {
    const facts = sampleFacts();
    const { member } = buildEvidence(facts);
    const statement = payloadOf(member);
    expect(Check(Statement, statement)).toBe(true);
    const text = Buffer.from(member.payload, 'base64').toString();
    for (const secret of ['Grüße', '世界', 'Hallo', 'Welt']) expect(text).not.toContain(secret);
    expect(text.length).toBeLessThan(4096);
  });

  it('verifies to L1 with the request, to L0 without', () => {
    const facts = sampleFacts();
    const { body } = sampleResponse(facts);
    expect(verify(body, keyringFor(facts))).toMatchObject({ exitCode: 0, level: 'L1' });
    expect(verify(body, keyringFor(facts), null)).toMatchObject({ exitCode: 0, level: 'L0' });
    expect(verify(body.evidence, keyringFor(facts), null)).toMatchObject({ exitCode: 0, level: 'L0' });
  });

  it('accepts the request written with other spacing and order of keys', () => {
    const facts = sampleFacts();
    const { body } = sampleResponse(facts);
    const reversed = Object.fromEntries(Object.entries(requestBody).reverse());
    const rewritten = Buffer.from(JSON.stringify(reversed, null, 3));
    expect(verify(body, keyringFor(facts), rewritten)).toMatchObject({ exitCode: 0, level: 'L1' });
  });

  it('binds id and created to nothing, since they vary from run to run', () => {
    const facts = sampleFacts();
    const { body } = sampleResponse(facts);
    expect(verify({ ...body, id: 'chatcmpl-svc-1', created: 1 }, keyringFor(facts)).exitCode).toBe(0);
  });

  it('names its payload in the digest header', () => {
    const { payloadSha256, body } = sampleResponse();
    const payload = Buffer.from(body.evidence.payload, 'base64');
    expect(payloadSha256).toBe(sha256Hex(payload));
  });

  it.each([
    ['was not hashed', { name: 'libevil.so', inode: null }],
    ['is another file of the same name', { name: 'libggml.so', inode: 99 }],
  ])('is refused when a mapped file %s', (_, file) => {
    const { frozen } = sampleFacts();
    const mapped = { ...frozen, host: { ...frozen.host, mapped: [file] } };
    expect(() => buildEvidence(sampleFacts({ frozen: mapped }))).toThrow(file.name);
  });

  it('names what calls the library, and holds without, as records before that do', () => {
    const { frozen } = sampleFacts();
    const binding = { name: 'koffi', version: '3.3.4', sha256: sha256Hex('koffi.node') };
    const facts = sampleFacts({ frozen: { ...frozen, host: { ...frozen.host, binding } } });
    const named = sampleResponse(facts).body;
    expect(payloadOf(named.evidence)).toMatchObject({ predicate: { backend: { binding } } });
    expect(verify(named, keyringFor(facts)).exitCode).toBe(0);
    const unnamed = sampleFacts();
    const { body } = sampleResponse(unnamed);
    expect(payloadOf(body.evidence)).not.toMatchObject({ predicate: { backend: { binding: {} } } });
    expect(verify(body, keyringFor(unnamed)).exitCode).toBe(0);
  });

  it('is refused when layers ran on a GPU', () => {
    const { frozen } = sampleFacts();
    const onGpu = { ...frozen, exec: { ...frozen.exec, gpuLayers: 3 } };
    expect(() => buildEvidence(sampleFacts({ frozen: onGpu }))).toThrow(/GPU/);
  });
});

describe('tampering', () => {
  const facts = sampleFacts();
  const keyring = keyringFor(facts);
  const { body } = sampleResponse(facts);
  const statement = payloadOf(body.evidence);
  const resealed = (payload: unknown, keys = facts.identity.keys) => ({
    ...body,
    evidence: {
      ...body.evidence,
      ...seal(keys, EVIDENCE_PAYLOAD_TYPE, Buffer.from(JSON.stringify(payload))),
    },
  });

  it('has the statement intact before anything is altered', () => {
    expect(verify(resealed(statement), keyring)).toMatchObject({ exitCode: 0, level: 'L1' });
    expect(leaves(statement).length).toBeGreaterThan(60);
  });

  it.each(leaves(statement).map((path) => [path.join('.'), path] as const))(
    'of %s breaks the signature',
    (_, path) => {
      const payload = Buffer.from(JSON.stringify(altered(statement, path))).toString('base64');
      expect(verify({ ...body, evidence: { ...body.evidence, payload } }, keyring)).toMatchObject({
        exitCode: 1,
        level: null,
      });
    },
  );

  it.each(leaves(statement).map((path) => [path.join('.'), path] as const))(
    'of %s signed by a stranger is refused',
    (_, path) => {
      const stranger = newInstanceKeys();
      expect(verify(resealed(altered(statement, path), stranger), keyring).exitCode).toBe(1);
      const posing = resealed(altered(statement, path), stranger);
      const [signature] = posing.evidence.signatures;
      posing.evidence.signatures = [{ keyid: facts.identity.keys.keyid, sig: signature?.sig ?? '' }];
      expect(verify(posing, keyring).exitCode).toBe(1);
    },
  );

  it.each(leaves(facts.response).map((path) => [path.join('.'), path] as const))(
    'of the response at %s shows',
    (_, path) => {
      expect(verify(altered(body, path), keyring)).toMatchObject({ exitCode: 1, level: null });
    },
  );

  it.each(leaves(requestBody).map((path) => [path.join('.'), path] as const))(
    'of the request at %s shows',
    (_, path) => {
      const bytes = Buffer.from(JSON.stringify(altered(requestBody, path)));
      expect(verify(body, keyring, bytes)).toMatchObject({ exitCode: 1, level: null });
    },
  );

  it('by an added choice, usage member or request member shows', () => {
    const { choices } = body;
    expect(verify({ ...body, choices: [...(choices as unknown[]), { index: 1 }] }, keyring).exitCode).toBe(1);
    expect(verify({ ...body, usage: { ...(body.usage as Json), extra: 0 } }, keyring).exitCode).toBe(1);
    const bytes = Buffer.from(JSON.stringify({ ...requestBody, top_p: 1 }));
    expect(verify(body, keyring, bytes).exitCode).toBe(1);
  });

  it('of the token ids beside the record shows', () => {
    const output_tokens = Buffer.from(Uint32Array.of(5, 9, 70001, 2).buffer).toString('base64');
    expect(verify({ ...body, evidence: { ...body.evidence, output_tokens } }, keyring).exitCode).toBe(1);
  });

  it.each([
    ['other spacing', JSON.stringify(statement, null, 1)],
    ['another order of keys', canonicalJson(statement)],
    ['a trailing newline', `${JSON.stringify(statement)}\n`],
  ])('by writing the same statement with %s breaks the signature', (_, text) => {
    const payload = Buffer.from(text).toString('base64');
    expect(verify({ ...body, evidence: { ...body.evidence, payload } }, keyring).exitCode).toBe(1);
  });

  it.each([
    ['payload type', { payloadType: 'application/vnd.svc.identity-proof+json' }],
    ['keyid', { signatures: [{ keyid: '0'.repeat(64), sig: body.evidence.signatures[0]?.sig ?? '' }] }],
    [
      'signature',
      { signatures: [{ keyid: facts.identity.keys.keyid, sig: Buffer.alloc(64).toString('base64') }] },
    ],
    ['signature length', { signatures: [{ keyid: facts.identity.keys.keyid, sig: '' }] }],
  ])('of the %s is refused', (_, change) => {
    expect(verify({ ...body, evidence: { ...body.evidence, ...change } }, keyring)).toMatchObject({
      exitCode: 1,
    });
  });

  it('of the key that the statement names shows, even when the true key signed', () => {
    const renamed = altered(statement, ['predicate', 'issuer', 'keyid']);
    expect(verify(resealed(renamed), keyring).exitCode).toBe(1);
  });

  it('by a signature of the same key for another purpose is refused', () => {
    const evidence = seal(facts.identity.keys, 'application/vnd.svc.identity-proof+json', Buffer.from('{}'));
    expect(verify(evidence, keyring, null).exitCode).toBe(1);
  });

  it('beside what is signed is pointed out, and decides nothing', () => {
    const added = { ...body, timings: { predicted_ms: 1 }, note: 'verified by nobody' };
    const { exitCode, level, findings } = verify(
      { ...added, evidence: { ...body.evidence, seal: 'x' } },
      keyring,
    );
    expect({ exitCode, level }).toEqual({ exitCode: 0, level: 'L1' });
    const { detail } = findings.find(({ outcome }) => outcome === 'noted') ?? { detail: '' };
    for (const name of ['timings', 'note', 'evidence.seal']) expect(detail).toContain(name);
    for (const name of ['model', 'choices', 'usage', 'payload']) expect(detail).not.toContain(name);
  });

  it('of base64 that decodes to the same bytes is malformed', () => {
    const { output_tokens: tokens, signatures } = body.evidence;
    const sloppy = (text: string) => {
      const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
      const last = text.replace(/=+$/, '').length - 1;
      const other = text.slice(0, last) + letters[letters.indexOf(text[last]!) + 1] + text.slice(last + 1);
      expect(Buffer.from(other, 'base64').equals(Buffer.from(text, 'base64'))).toBe(true);
      return other;
    };
    const [signature] = signatures;
    if (signature === undefined) throw new Error('the sample is not signed');
    for (const change of [
      { output_tokens: sloppy(tokens) },
      { output_tokens: `${tokens}\n` },
      { output_tokens: 7 },
      { signatures: [{ ...signature, sig: sloppy(signature.sig) }] },
    ]) {
      expect(() => openRecord({ ...body, evidence: { ...body.evidence, ...change } })).toThrow(
        expect.objectContaining({ code: 'record_malformed' }),
      );
    }
  });

  it('that leaves no record is malformed', () => {
    const malformed = expect.objectContaining({ code: 'record_malformed' });
    for (const file of [
      null,
      [],
      {},
      { evidence: {} },
      { ...body, evidence: { ...body.evidence, payload: '%' } },
    ])
      expect(() => openRecord(file)).toThrow(malformed);

    const nonsense = seal(facts.identity.keys, EVIDENCE_PAYLOAD_TYPE, Buffer.from('{}'));
    expect(() => verify(nonsense, keyring, null)).toThrow(malformed);
  });

  it('cannot be told without a key', () => {
    expect(verify(body, null)).toMatchObject({ exitCode: 2, level: null });
  });
});

describe('the chain of a boot', () => {
  const identity = sampleIdentity();
  const chain = newEvidenceChain();
  const records = Array.from({ length: 4 }, () => {
    const record = openRecord(buildEvidence(sampleFacts({ identity, chain })).member);
    const { statement } = checkSignature(record, parseKeyring(identity.keys.publicKeyPem), parseStatement);
    if (statement === null) throw new Error('the sample does not verify');
    return { statement, payload: record.payload };
  });
  const [first, second, third, fourth] = records;
  if (!first || !second || !third || !fourth) throw new Error('four records were made');

  it('links each record to the one before', () => {
    expect(checkChain([third, first, fourth, second]).map(({ outcome }) => outcome)).toEqual(
      Array(3).fill('passed'),
    );
    expect(first.statement.predicate.issuer).toMatchObject({ seq: 0, prev_evidence_sha256: null });
  });

  it('reports a gap without faulting it', () => {
    expect(checkChain([first, fourth])).toMatchObject([
      { outcome: 'skipped', detail: expect.stringContaining('2 records') },
    ]);
  });

  it('faults two records in one place, and a record that follows another one', () => {
    const rival = openRecord(buildEvidence(sampleFacts({ identity, chain: newEvidenceChain() })).member);
    const { statement } = checkSignature(rival, parseKeyring(identity.keys.publicKeyPem), parseStatement);
    if (statement === null) throw new Error('the sample does not verify');
    const other = structuredClone(statement);
    other.predicate.model.id = 'other';
    const forged = { statement: other, payload: Buffer.from(JSON.stringify(other)) };
    expect(checkChain([first, forged])).toMatchObject([{ outcome: 'failed' }]);
    expect(checkChain([forged, second])).toMatchObject([{ outcome: 'failed' }]);
  });

  it('does not fault the same record given twice', () => {
    expect(checkChain([first, first])).toMatchObject([{ outcome: 'skipped' }]);
  });

  it('keeps boots apart', () => {
    const other = structuredClone(second.statement);
    other.predicate.issuer.boot_id = 'cd'.repeat(16);
    expect(checkChain([first, { statement: other, payload: second.payload }])).toEqual([]);
  });

  it('gives no place to a record that could not be built', () => {
    const fresh = newEvidenceChain();
    expect(() =>
      fresh.append(() => {
        throw new Error('no');
      }),
    ).toThrow();
    fresh.append(({ seq }) => Buffer.from(String(seq)));
    fresh.append(({ seq, prev_evidence_sha256 }) => {
      expect({ seq, prev_evidence_sha256 }).toEqual({ seq: 1, prev_evidence_sha256: sha256Hex('0') });
      return Buffer.from('');
    });
  });
});

describe('keys and their rotation', () => {
  let home: string;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'hearth-keys-'));
  });
  afterAll(() => rm(home, { recursive: true, force: true }));

  it('keeps the instance and the records of old keys across rotations', async () => {
    const before = await loadIdentity({ home });
    const old = sampleResponse(sampleFacts({ identity: before })).body;
    await rotateKey(home, SIGNED_MS);
    await rotateKey(home, SIGNED_MS);
    const after = await loadIdentity({ home });
    expect(after.instanceId).toBe(before.instanceId);
    expect(after.keys.keyid).not.toBe(before.keys.keyid);
    const history = keyringFromJson(await readKeyHistory(home));
    expect(history.keys.map(({ keyid }) => keyid)).toHaveLength(3);
    for (const body of [old, sampleResponse(sampleFacts({ identity: after })).body])
      expect(verify(body, history)).toMatchObject({ exitCode: 0, level: 'L1' });

    const stranger = sampleResponse(
      sampleFacts({ identity: { ...after, instanceId: sampleIdentity().instanceId } }),
    );
    expect(verify(stranger.body, history).exitCode).toBe(1);
  });

  it('lets each key speak for its own time only', async () => {
    const own = await mkdtemp(join(home, 'periods-'));
    const before = await loadIdentity({ home: own });
    await rotateKey(own, SIGNED_MS);
    const after = await loadIdentity({ home: own });
    const history = keyringFromJson(await readKeyHistory(own));
    const dated = (identity: typeof before, nowMs: number) =>
      verify(sampleResponse(sampleFacts({ identity, nowMs })).body, history).exitCode;
    expect(dated(before, SIGNED_MS)).toBe(0);
    expect(dated(before, SIGNED_MS + 1000)).toBe(1);
    expect(dated(after, SIGNED_MS)).toBe(0);
    expect(dated(after, SIGNED_MS - 1000)).toBe(1);
  });

  it('takes a bare key for the instance that it made, and for no other', async () => {
    const identity = sampleIdentity();
    const bare = parseKeyring(identity.keys.publicKeyPem);
    const of = (instanceId: string) =>
      sampleResponse(sampleFacts({ identity: { ...identity, instanceId } })).body;
    expect(verify(of(identity.instanceId), bare).exitCode).toBe(0);
    const other = verify(of(sampleIdentity().instanceId), bare);
    expect(other).toMatchObject({ exitCode: 2, level: null });
    expect(other.findings[1]?.detail).toContain('--history');
  });

  it('refuses a history in which a link was altered, dropped or forged', async () => {
    const history = await readKeyHistory(home);
    if (history === null) throw new Error('no history');
    const [first, second] = history.rotations;
    if (!first || !second) throw new Error('two rotations were made');
    const forgedKeys = newInstanceKeys();
    const forged = {
      ...first,
      signatures: [{ ...first.signatures[0] }, { keyid: forgedKeys.keyid, sig: '' }],
    };
    for (const rotations of [
      [second],
      [second, first],
      [forged, second],
      [{ ...first, payload: second.payload }],
    ])
      expect(() => keyringFromJson({ ...history, rotations })).toThrow(/rotation 1/);

    // A stranger can sign a hand-over to a key of its own, but not in the name of the key before it.
    const takeover = JSON.parse(Buffer.from(first.payload, 'base64').toString()) as Json;
    const payload = Buffer.from(JSON.stringify({ ...takeover, new_public_key: forgedKeys.publicKeyPem }));
    const sig = signPayload(forgedKeys, ROTATION_PAYLOAD_TYPE, payload).toString('base64');
    const [{ keyid }] = first.signatures;
    const signatures = [
      { keyid, sig },
      { keyid: forgedKeys.keyid, sig },
    ];
    const stolen = { ...first, payload: payload.toString('base64'), signatures };
    expect(() => keyringFromJson({ ...history, rotations: [stolen] })).toThrow(
      /rotation 1 is not signed by the key/,
    );
    const other = newInstanceKeys();
    expect(() => keyringFromJson({ ...history, first_public_key: other.publicKeyPem })).toThrow(/first key/);
  });

  it('never takes a private key for a public one', async () => {
    const pem = await readFile(join(home, 'instance/key.pem'), 'utf8');
    expect(() => parseKeyring(pem)).toThrow(/neither/);
  });
});

describe('canonical JSON', () => {
  it('follows the example of RFC 8785', () => {
    const value = JSON.parse(
      '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
    ) as Json;
    // The example holds 1E30, which the stricter I-JSON rule refuses; everything else must be written alike.
    const numbers = JSON.parse('[333333333.33333329,4.50,2e-3,0.000000000000000000000000001]') as number[];
    expect(canonicalJson({ ...value, numbers })).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it('sorts keys by UTF-16 units, as the sorting sample of RFC 8785', () => {
    const value = { '€': 1, '\r': 2, '\ufb33': 3, '1': 4, '😀': 5, '\u0080': 6, ö: 7 };
    expect(canonicalJson(value)).toBe('{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}');
  });

  it.each([
    '0',
    '5e-324',
    '-5e-324',
    '9007199254740991',
    '333333333.3333332',
    '333333333.33333325',
    '333333333.3333333',
    '333333333.3333334',
    '333333333.33333343',
    '-0.0000033333333333333333',
    '1424953923781206.2',
  ])('writes %s as the number samples do', (text) => {
    expect(canonicalJson(JSON.parse(text))).toBe(text);
  });

  it('writes minus zero as zero', () => {
    expect(canonicalJson([-0])).toBe('[0]');
  });

  it.each([
    ['a lone high surrogate', { a: '\ud800' }],
    ['a lone low surrogate', ['x\udc00y']],
    ['a lone surrogate in a key', { '\udfff': 1 }],
    ['2^53', [2 ** 53]],
    ['-2^53', [-(2 ** 53)]],
    ['1e300', { n: 1e300 }],
    ['infinity', [Number.POSITIVE_INFINITY]],
    ['not a number', [Number.NaN]],
    ['undefined', [undefined]],
    ['a bigint', [1n]],
  ])('refuses %s', (_, value) => {
    expect(() => canonicalJson(value)).toThrow(/no canonical form/);
  });

  it('keeps pairs of surrogates, and a key named __proto__', () => {
    expect(canonicalJson(JSON.parse('{"__proto__":{"a":"\\ud83d\\ude00"}}'))).toBe(
      '{"__proto__":{"a":"😀"}}',
    );
  });
});

describe('a frozen request', () => {
  const freeze = (body: Json) =>
    freezeRequest(Buffer.from(JSON.stringify(body)), body, { nowMs: 1_234_567, nonce: null });

  it('derives seed and temperature when they are absent, and says so', () => {
    const { seed, temperature, defaulted, templateClockMs } = freeze({ model: 'm' });
    expect(seed).toBe(derivedSeed(canonicalSha256({ model: 'm' })));
    expect({ temperature, defaulted, templateClockMs }).toEqual({
      temperature: 0,
      defaulted: ['temperature', 'seed'],
      templateClockMs: 1_234_000,
    });
  });

  it('takes the seed and temperature of the request', () => {
    expect(freeze({ seed: 42, temperature: 0.7 })).toMatchObject({
      seed: 42,
      temperature: 0.7,
      defaulted: [],
    });
  });

  it.skipIf(!hasPython)(
    `derives the same seed as openssl${leftOut(hasPython, 'there is no python3 here')}`,
    () => {
      const digest = canonicalSha256({ model: 'm' });
      const script = `{ printf 'svc-frozen-v1\\0'; printf '%s' ${digest} | xxd -r -p; } | openssl dgst -sha256 -binary | head -c4 | od -An -tx1 | tr -d ' \\n'`;
      const hex = execFileSync('bash', [
        '-c',
        script.replace(
          '| xxd -r -p',
          `| python3 -c "import sys;sys.stdout.buffer.write(bytes.fromhex(sys.stdin.read()))"`,
        ),
      ]).toString();
      expect(derivedSeed(digest)).toBe(Number.parseInt(hex, 16));
    },
  );

  it('refuses the seed that means randomness, and a nonce that is no token', () => {
    expect(() => freeze({ seed: 0xffffffff })).toThrow(/seed must be/);
    for (const nonce of ['', 'a b', 'é', 'x'.repeat(129)]) expect(isNonce(nonce)).toBe(false);
  });
});

describe('a second opinion', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hearth-openssl-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** The script of docs/evidence.md, as it stands there. */
  const documented = async (): Promise<string> => {
    const page = await readFile(new URL('../../../docs/evidence.md', import.meta.url), 'utf8');
    const script = /<!-- second check -->\n```sh\n([\s\S]*?)```/.exec(page)?.[1];
    if (script === undefined) throw new Error('docs/evidence.md has lost its second check');
    return script;
  };

  /** Runs the script as a reader would, with no options of the shell to help it. */
  const secondOpinion = async (
    changes: {
      readonly response?: unknown;
      readonly text?: string;
      readonly request?: Buffer;
      readonly pem?: string;
    } = {},
  ) => {
    await writeFile(join(folder, 'response.json'), changes.text ?? JSON.stringify(changes.response ?? body));
    await writeFile(join(folder, 'request.json'), changes.request ?? requestBytes);
    await writeFile(join(folder, 'pub.pem'), changes.pem ?? facts.identity.keys.publicKeyPem);
    const script = await documented();
    const { status, stdout } = spawnSync('bash', ['-c', script], { cwd: folder, encoding: 'utf8' });
    return { isGood: status === 0, saysSo: stdout.includes('all checks passed') };
  };
  const facts = sampleFacts();
  const { body } = sampleResponse(facts);
  const payload = Buffer.from(`${Buffer.from(body.evidence.payload, 'base64').toString()} `);

  it('by openssl agrees on signature and bindings', async () => {
    expect(await secondOpinion()).toEqual({ isGood: true, saysSo: true });
  });

  it.each([
    ['an altered answer', { response: { ...body, model: 'other' } }],
    [
      'a key that comes twice',
      { text: JSON.stringify(body).replace('"choices":', '"choices":[],"choices":') },
    ],
    ['an altered request', { request: Buffer.from(`${requestBytes.toString()} `) }],
    ['a foreign key', { pem: newInstanceKeys().publicKeyPem }],
    [
      'an altered statement',
      { response: { ...body, evidence: { ...body.evidence, payload: payload.toString('base64') } } },
    ],
    ['other tokens', { response: { ...body, evidence: { ...body.evidence, output_tokens: 'AAAA' } } }],
    ['no record', { response: { ...body, evidence: undefined } }],
  ])('by openssl fails on %s', async (_, changes) => {
    expect(await secondOpinion(changes)).toEqual({ isGood: false, saysSo: false });
  });

  it('by openssl agrees on Content-Digest', async () => {
    const bytes = Buffer.from('{"a":1}');
    const second = execFileSync('sh', ['-c', 'openssl dgst -sha256 -binary | base64'], { input: bytes });
    expect(contentDigest(bytes)).toBe(`sha-256=:${second.toString().trim()}:`);
  });
});
