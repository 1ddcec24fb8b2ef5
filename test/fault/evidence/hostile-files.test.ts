/**
 * What one reader of a record refuses, every reader refuses: the command, the page, the script of docs/proof.md, and for
 * requests the service. A file that two of them read differently could prove one thing to one person and another to the next.
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyFiles } from '../../../src/server/api/replay/verify-record.ts';
import { freezeRequest } from '../../../src/trust/evidence/freeze.ts';
import { proofFileText, readProofFile } from '../../../src/trust/evidence/proof-file.ts';
import { readKeyHistory, rotateKey } from '../../../src/trust/evidence/rotation.ts';
import { canonicalJson } from '../../../src/trust/identity/canonical.ts';
import { seal } from '../../../src/trust/identity/dsse.ts';
import { loadIdentity } from '../../../src/trust/identity/instance.ts';
import { checkRecord, kindOf, textOfFile } from '../../../ui/proof/check.ts';
import { scriptedService } from '../../support/http/scripted-service.ts';
import { leftOut } from '../../support/left-out.ts';
import { sampleCard } from '../../support/records/sample-card.ts';
import {
  requestBody,
  requestBytes,
  sampleFacts,
  sampleIdentity,
  sampleResponse,
} from '../../support/records/sample-record.ts';
import { removeFolder } from '../../support/remove-folder.ts';

const runs = (program: string, option: string): boolean => spawnSync(program, [option]).status === 0;
const hasPython = runs('python3', '--version') && runs('openssl', 'version');

type Bytes = string | Buffer;
/** Changes the text of a JSON object. */
type Change = (text: string) => Bytes;

const member =
  (json: string): Change =>
  (text) =>
    text.replace(/^\{/, `{${json},`);
const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

/** Refused wherever they stand: whether they are signed plays no part. */
const HOSTILE: Readonly<Record<string, Change>> = {
  'a key twice': member('"extra":1,"extra":2'),
  'a key twice, once with an escape': member('"extra":1,"\\u0065xtra":2'),
  'a key twice, far inside': member('"extra":[{"b":{"c":1,"c":1}}]'),
  __proto__: member('"__proto__":{"evidence":1}'),
  'trailing text': (text) => `${text}x`,
  'a second document': (text) => `${text}\n${text}`,
  'a trailing comma': (text) => text.replace(/\}$/, ',}'),
  'a comment': (text) => text.replace(/^\{/, '{/* */'),
  'a name without quotes': member('extra:1'),
  'single quotes': member("'extra':1"),
  NaN: member('"extra":NaN'),
  Infinity: member('"extra":Infinity'),
  '-Infinity': member('"extra":[-Infinity]'),
  'a number too large for a double': member('"extra":1e999'),
  'an integer too large for a double': member(`"extra":${'9'.repeat(320)}`),
  'an integer of 5000 digits': member(`"extra":-${'9'.repeat(5000)}`),
  'a number of 500 characters': member(`"extra":0.${'1'.repeat(500)}`),
  'a leading zero': member('"extra":01'),
  'a leading plus': member('"extra":+1'),
  'a bare fraction': member('"extra":.5'),
  'an underscore in a number': member('"extra":1_000'),
  'another script of digits': member('"extra":١'),
  'lists in lists': member(`"extra":${nested(65)}`),
  'objects in objects': member(`"extra":${'{"a":'.repeat(65)}1${'}'.repeat(65)}`),
  'lists beyond any stack': member(`"extra":${nested(50_000)}`),
  'a byte order mark': (text) => `\ufeff${text}`,
  'UTF-16': (text) => Buffer.from(`\ufeff${text}`, 'utf16le'),
  'bytes that are no UTF-8': (text) => {
    const [before = '', after = ''] = member('"extra":"|"')(text).toString().split('|');
    return Buffer.concat([Buffer.from(before), Buffer.from([0xff, 0xc0, 0x80]), Buffer.from(after)]);
  },
  'a half of a surrogate in bytes': (text) => {
    const [before = '', after = ''] = member('"extra":"|"')(text).toString().split('|');
    return Buffer.concat([Buffer.from(before), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from(after)]);
  },
  'a line break in a string': member('"extra":"a\nb"'),
  'a NUL': (text) => `${text}\0`,
  'white space of no JSON': (text) => `\u00a0${text}`,
  'an unknown escape': member('"extra":"\\x41"'),
  'an unfinished string': (text) => text.slice(0, -2),
  nothing: () => '',
  'white space': () => ' \n',
  'a list': (text) => `[${text}]`,
  'a text': (text) => JSON.stringify(text),
  'a number': () => '1',
  null: () => 'null',
};

/** Accepted by all: without these, a reader that refuses everything would pass. */
const HARMLESS: Readonly<Record<string, Change>> = {
  'the file itself': (text) => text,
  'white space around it': (text) => `\r\n\t ${text}\n\n`,
  'another layout': (text) => JSON.stringify(JSON.parse(text), null, 2),
  'another order': (text) =>
    JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text) as object).reverse())),
};

/** Harmless only where the member is not signed. */
const UNSIGNED: Readonly<Record<string, Change>> = {
  'a further member': member('"extra":{"a":[1,-0.5e-3,"\\u00e4\\ud83d\\ude00/\\/",null,true]}'),
  '64 lists in each other': member(`"extra":${nested(64)}`),
  'half of a surrogate, escaped': member('"extra":"\\ud800"'),
  'a number of 2^53 and more': member('"extra":9007199254740993'),
};

/** Of the record itself. */
const OF_RECORDS: Readonly<Record<string, Change>> = {
  'an answer twice': (text) => text.replace('"choices":', '"choices":[],"choices":'),
  'a record twice': (text) => text.replace('"evidence":', '"evidence":null,"evidence":'),
  'a payload twice': (text) => text.replace('"payload":', '"payload":"","payload":'),
  'half of a surrogate in the answer': (text) => text.replace('"content":"', '"content":"\\udfff'),
  '2^53 in the answer': (text) => text.replace('"total_tokens":21', '"total_tokens":9007199254740992'),
  ...altered('no record', (value) => ({ ...value, evidence: undefined })),
  ...altered('a list for a record', (value) => ({ ...value, evidence: [value.evidence] })),
  ...altered('a text for a record', (value) => ({ ...value, evidence: JSON.stringify(value.evidence) })),
  ...altered('null for a record', (value) => ({ ...value, evidence: null })),
  ...inRecord('a number for the payload', () => ({ payload: 1 })),
  ...inRecord('the payload without padding', ({ payload }) => ({ payload: payload.replace(/=+$/, '') })),
  ...inRecord('white space in the payload', ({ payload }) => ({
    payload: `${payload.slice(0, 8)}\n${payload.slice(8)}`,
  })),
  ...inRecord('bits behind the payload', ({ payload }) => ({ payload: bent(payload) })),
  ...inRecord('a signature in the other alphabet', ({ signatures: [one] }) => ({
    signatures: [{ ...one, sig: one.sig.replaceAll('+', '-').replaceAll('/', '_').replace(/^./, '-') }],
  })),
  ...inRecord('bits behind the signature', ({ signatures: [one] }) => ({
    signatures: [{ ...one, sig: bent(one.sig) }],
  })),
  ...inRecord('two signatures', ({ signatures: [one] }) => ({ signatures: [one, one] })),
  ...inRecord('no signature', () => ({ signatures: [] })),
  ...inRecord('an object for signatures', ({ signatures: [one] }) => ({ signatures: { 0: one } })),
  ...inRecord('a key id in capitals', ({ signatures: [one] }) => ({
    signatures: [{ ...one, keyid: one.keyid.toUpperCase() }],
  })),
  ...inRecord('a list for the type', ({ payloadType }) => ({ payloadType: [payloadType] })),
  ...inRecord('null for tokens', () => ({ output_tokens: null })),
  ...inRecord('a number for tokens', () => ({ output_tokens: 5 })),
};

type Sample = ReturnType<typeof sampleResponse>['body'];
type Envelope = Sample['evidence'] & { readonly signatures: [Sample['evidence']['signatures'][number]] };

function altered(name: string, change: (value: Sample) => object): Record<string, Change> {
  return { [name]: (text) => JSON.stringify(change(JSON.parse(text) as Sample)) };
}

function inRecord(name: string, change: (evidence: Envelope) => object): Record<string, Change> {
  return altered(name, (value) => ({
    ...value,
    evidence: { ...value.evidence, ...change(value.evidence as Envelope) },
  }));
}

/** The same bytes, by a lax decoder. */
function bent(base64: string): string {
  const [, body = '', letter = '', padding = ''] = /^(.*)([^=])(==?)$/.exec(base64) ?? [];
  const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const other = `${body}${ALPHABET[ALPHABET.indexOf(letter) + 1]}${padding}`;
  if (!Buffer.from(other, 'base64').equals(Buffer.from(base64, 'base64')) || other === base64)
    throw new Error('the payload needs padding');
  return other;
}

const identity = sampleIdentity();
const { publicKeyPem } = identity.keys;
let folder: string;

/** One whose payload and signature have padding, so that their bits can be bent. */
function paddedResponse(): Sample {
  for (let nonce = 1; ; nonce += 1) {
    const request = freezeRequest(requestBytes, requestBody, {
      nowMs: 1_790_000_000_500,
      nonce: 'n'.repeat(nonce),
    });
    const { body } = sampleResponse(sampleFacts({ identity, request }));
    if (body.evidence.payload.endsWith('=')) return body;
  }
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'hearth-hostile-'));
  await writeFile(path.join(folder, 'pub.pem'), publicKeyPem);
  const page = await readFile(new URL('../../../docs/proof.md', import.meta.url), 'utf8');
  await writeFile(
    path.join(folder, 'verify.py'),
    /<!-- third check -->\n```python\n([\s\S]*?)```/.exec(page)?.[1] ?? '',
  );
});

afterAll(() => removeFolder(folder));

interface Files {
  readonly record: Bytes;
  readonly request?: Bytes;
  readonly key?: Bytes;
}

/** Each says whether it accepts the files. */
const READERS = {
  command: async ({ record, request, key }: Files): Promise<boolean> => {
    const at = async (name: string, content: Bytes) => {
      await writeFile(path.join(folder, name), content);
      return path.join(folder, name);
    };
    const flags = {
      epsilon: 0.5,
      pubkey: await at('key', key ?? publicKeyPem),
      ...(request === undefined ? {} : { request: await at('request.json', request) }),
    };
    const machine = { env: {}, home: folder, numThreads: null, note: () => {} };
    const verdicts = await refusedIfThrown(verifyFiles(machine, [await at('response.json', record)], flags));
    return verdicts?.[0]?.exitCode === 0;
  },
  /** As its view does with files that are dropped on it. */
  page: async ({ record, request, key }: Files): Promise<boolean> => {
    const text = (content: Bytes) => refusedIfThrown(textOfFile(new Blob([content])));
    const [told, asked, by] = [
      await text(record),
      request && (await text(request)),
      await text(key ?? publicKeyPem),
    ];
    if (told === null || asked === null || by === null) return false;
    const kind = kindOf(told);
    if (kind !== 'record' && kind !== 'proof') return false;
    if (kindOf(by) !== 'key' || (asked !== undefined && kindOf(asked) !== 'request')) return false;
    const proof = readProofFile(told);
    const claims = { record: proof?.record ?? told, request: asked ?? proof?.request ?? null, key: by };
    return (await refusedIfThrown(checkRecord(claims)))?.exitCode === 0;
  },
  script: async ({ record, request, key }: Files): Promise<boolean> => {
    const files = {
      'response.json': record,
      'request.json': request ?? requestBytes,
      'pub.pem': key ?? publicKeyPem,
    };
    for (const [name, content] of Object.entries(files)) await writeFile(path.join(folder, name), content);
    const names = ['verify.py', ...Object.keys(files)];
    const { status, stderr } = spawnSync('python3', names, { cwd: folder, encoding: 'utf8' });
    // It says what is wrong, and never how it failed.
    expect(stderr).not.toContain('Traceback');
    return status === 0;
  },
};

async function refusedIfThrown<Result>(result: Promise<Result>): Promise<Result | null> {
  try {
    return await result;
  } catch {
    return null;
  }
}

/** As a careless issuer reads; what it cannot read either, it takes for another request. */
function laxly(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    canonicalJson(value);
    return value;
  } catch {
    return requestBody;
  }
}

type Reader = keyof typeof READERS;

async function accepting(readers: readonly Reader[], files: Files): Promise<Reader[]> {
  const here = readers.filter((reader) => reader !== 'script' || hasPython);
  const accepted: Reader[] = [];
  for (const reader of here) if (await READERS[reader](files)) accepted.push(reader);
  expect(
    here.length - accepted.length === 0 || accepted.length === 0,
    `only ${accepted.join()} accepts it`,
  ).toBe(true);
  return accepted;
}

const allOf = (readers: readonly Reader[]): Reader[] =>
  readers.filter((reader) => reader !== 'script' || hasPython);

const rows = (table: Readonly<Record<string, Change>>) => Object.entries(table);
const SCRIPTED = `the script${leftOut(hasPython, 'there is no python3 or openssl here')}`;

describe(`an answer with its record, in the command, the page and ${SCRIPTED}`, () => {
  const text = JSON.stringify(paddedResponse());
  const readers = ['command', 'page', 'script'] as const;

  it.each(rows({ ...HARMLESS, ...UNSIGNED }))('is accepted with %s', async (_, change) => {
    expect(await accepting(readers, { record: change(text), request: requestBytes })).toEqual(allOf(readers));
  });

  it.each(rows({ ...HOSTILE, ...OF_RECORDS }))('is refused with %s', async (_, change) => {
    const record = change(text);
    expect(record).not.toBe(text);
    expect(await accepting(readers, { record, request: requestBytes })).toEqual([]);
  });
});

describe(`what was signed, in the command, the page and ${SCRIPTED}`, () => {
  const readers = ['command', 'page', 'script'] as const;
  it.each(rows(HOSTILE))('is refused where its issuer signed a request with %s', async (_, change) => {
    const request = Buffer.from(change(JSON.stringify(requestBody)));
    const signed = laxly(request.toString()) as typeof requestBody;
    const frozen = freezeRequest(request, signed ?? requestBody, { nowMs: 1_790_000_000_500, nonce: null });
    const record = JSON.stringify(sampleResponse(sampleFacts({ identity, request: frozen })).body);
    expect(await accepting(readers, { record, request })).toEqual([]);
  });

  it.each(rows(HOSTILE))('is refused where its issuer signed a statement with %s', async (_, change) => {
    const { evidence, ...answer } = paddedResponse();
    const payload = Buffer.from(change(Buffer.from(evidence.payload, 'base64').toString()));
    const sealed = seal(identity.keys, evidence.payloadType, payload);
    const record = JSON.stringify({ ...answer, evidence: { ...evidence, ...sealed } });
    expect(await accepting(readers, { record, request: requestBytes })).toEqual([]);
  });
});

describe('a proof, in the command and the page', () => {
  const readers = ['command', 'page'] as const;
  const record = JSON.stringify(paddedResponse());
  const request = requestBytes.toString();
  const text = proofFileText({ record, request, publicKey: publicKeyPem }).trim();

  it('is accepted', async () => {
    for (const change of [
      (one: string) => one,
      (one: string) => `\n${one}\n`,
      (one: string) => JSON.stringify(JSON.parse(one)),
    ])
      expect(await accepting(readers, { record: change(text) })).toEqual(readers);
  });

  // A member in front would make it another file.
  const inside: typeof HOSTILE = Object.fromEntries(
    rows(HOSTILE).map(([name, change]) => [
      name,
      (whole) => {
        const changed = change(whole);
        return typeof changed === 'string'
          ? changed.replace(
              /^\{((?:(?!"object").)*?,)\s*"object": "svc\.proof"/s,
              '{"object":"svc.proof",$1"x":1',
            )
          : changed;
      },
    ]),
  );
  it.each(rows(inside))('is refused with %s', async (_, change) => {
    expect(await accepting(readers, { record: change(text) })).toEqual([]);
  });

  it.each(rows({ ...HOSTILE, ...OF_RECORDS }))('is refused with a record with %s', async (_, change) => {
    const inner = change(record);
    if (typeof inner !== 'string') return;
    expect(
      await accepting(readers, { record: proofFileText({ record: inner, request, publicKey: null }) }),
    ).toEqual([]);
  });

  it.each(rows(HOSTILE))('is refused with a request with %s', async (_, change) => {
    const inner = change(request);
    if (typeof inner !== 'string') return;
    expect(
      await accepting(readers, { record: proofFileText({ record, request: inner, publicKey: null }) }),
    ).toEqual([]);
  });

  it.each([
    ['record', 1],
    ['record', null],
    ['request', {}],
    ['public_key', 5],
  ])('is refused with %s as %j', async (name, value) => {
    const wrong = JSON.stringify({ ...(JSON.parse(text) as object), [name]: value });
    expect(await accepting(readers, { record: wrong })).toEqual([]);
  });
});

describe('the saved text of a stream, in the command and the page', () => {
  const readers = ['command', 'page'] as const;
  const { model, choices, usage, evidence } = paddedResponse();
  const event = JSON.stringify({ choices: [], evidence, svc_answer: { model, choices, usage } });
  const stream = (data: Bytes): Bytes => {
    const lines = [Buffer.from('data: '), Buffer.from(data), Buffer.from('\n\ndata: [DONE]\n\n')];
    return Buffer.concat(lines);
  };

  it.each(rows({ ...HARMLESS, ...UNSIGNED }))('is accepted with %s', async (name, change) => {
    if (/layout|white space/.test(name)) return;
    expect(await accepting(readers, { record: stream(change(event)), request: requestBytes })).toEqual(
      readers,
    );
  });

  it.each(rows({ ...HOSTILE, ...OF_RECORDS }))('is refused with %s', async (name, change) => {
    // Between the lines of a stream, white space is none of JSON's.
    if (['a second document', 'nothing', 'white space'].includes(name)) return;
    expect(await accepting(readers, { record: stream(change(event)), request: requestBytes })).toEqual([]);
  });

  it('is refused with a byte order mark, or bytes that are no UTF-8', async () => {
    const whole = stream(event);
    for (const record of [
      Buffer.concat([Buffer.from('\ufeff'), Buffer.from(whole)]),
      Buffer.concat([Buffer.from(': \xff\n', 'latin1'), Buffer.from(whole)]),
    ])
      expect(await accepting(readers, { record, request: requestBytes })).toEqual([]);
  });
});

describe('a card, in the command and the page', () => {
  const readers = ['command', 'page'] as const;
  const text = JSON.stringify(sampleCard(sampleFacts({ identity })));

  it('is accepted', async () => {
    expect(await accepting(readers, { record: text })).toEqual(readers);
  });

  it.each(rows(HOSTILE))('is refused with %s', async (_, change) => {
    expect(await accepting(readers, { record: change(text) })).toEqual([]);
  });
});

describe('a key history, in the command and the page', () => {
  const readers = ['command', 'page'] as const;
  let record: string;
  let history: string;
  beforeAll(async () => {
    const home = await mkdtemp(path.join(folder, 'home-'));
    const own = await loadIdentity({ home });
    record = JSON.stringify(sampleResponse(sampleFacts({ identity: own })).body);
    await rotateKey(home, 1_790_000_001_000);
    history = JSON.stringify(await readKeyHistory(home));
  });

  it.each(rows(HARMLESS))('is accepted with %s', async (_, change) => {
    expect(await accepting(readers, { record, key: change(history) })).toEqual(readers);
  });

  it.each(rows(HOSTILE))('is refused with %s', async (_, change) => {
    expect(await accepting(readers, { record, key: change(history) })).toEqual([]);
  });
});

describe('a request, in the service', () => {
  const service = scriptedService();
  const code = async (body: Bytes): Promise<unknown> => {
    const reply = await fetch(`${service.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-svc-evidence-mode': 'frozen-v1' },
      body,
    });
    return reply.status === 400 ? reply.headers.get('x-svc-error-code') : null;
  };
  const text = JSON.stringify(requestBody);

  it.each(rows(HARMLESS))('is read with %s', async (_, change) => {
    expect(await code(change(text))).not.toBe('invalid_json');
  });

  it.each(rows(HOSTILE))('is refused with %s', async (_, change) => {
    expect(await code(change(text))).toMatch(
      /^(invalid_json|invalid_type|missing_parameter|invalid_request)$/,
    );
  });
});
