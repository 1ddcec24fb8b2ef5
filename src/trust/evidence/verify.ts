/**
 * Checks a record, level by level: L0 signature by a pinned key, L1 binding to request, response and neighbours, L2
 * local artefacts, L3 bit-exact replay, L4 tolerant check. Pure: callers read files, hash artefacts and replay.
 */
import { Check as isShape } from 'typebox/value';
import { fail, isSvcError } from '../../lib/errors/svc-error.ts';
import { canonicalSha256, sha256Hex } from '../identity/canonical.ts';
import { Base64, Envelope, isSignedBy } from '../identity/dsse.ts';
import { EVAL_OBJECT } from './eval-statement.ts';
import type { Keyring, TrustedKey } from './keyring.ts';
import { asResponse, type SavedStream } from './record-text.ts';
import { type AnsweredResponse, type AnsweredVectors, responseSha256 } from './record.ts';
import { EVIDENCE_PAYLOAD_TYPE, type Predicate, Statement } from './statement.ts';
import { looseMembers, streamDifferences } from './stream-differences.ts';
import { parseStrictly } from './strict-text.ts';

export type Level = 'L0' | 'L1' | 'L2' | 'L3' | 'L4';

/**
 * `incomparable`: the two sides ran on different things, which is not a fault. `noted`: information without effect on
 * the verdict.
 */
export interface Finding {
  readonly level: Level;
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'incomparable' | 'skipped' | 'noted';
  readonly detail: string;
}

export interface OpenedRecord {
  readonly envelope: Envelope;
  readonly payload: Buffer;
  readonly response: AnsweredResponse | null;
  readonly vectors: AnsweredVectors | null;
  readonly report: object | null;
  readonly outputTokens: Buffer | null;
  readonly stream: SavedStream | null;
  /** Members of the file that no signature binds, so anybody could have written them. */
  readonly unsigned: readonly string[];
}

export interface Verdict {
  /** 0 verified at `level`, 1 mismatch, 2 not comparable. */
  readonly exitCode: 0 | 1 | 2;
  /** The highest level with a passed check and nothing left open; null: none. */
  readonly level: Level | null;
  readonly findings: readonly Finding[];
}

/** Accepts a saved response with its `evidence` member, the last event of a stream, or a bare envelope. */
export function openRecord(file: unknown, stream: SavedStream | null = null): OpenedRecord {
  if (typeof file !== 'object' || file === null)
    throw fail('record_malformed', { reason: 'it is not a JSON object' });
  const { response: value, unsigned } = asResponse(file);
  const isResponse = 'evidence' in value;
  const member: unknown = isResponse ? value.evidence : value;
  if (!isShape(Envelope, member)) throw fail('record_malformed', { reason: 'it holds no evidence envelope' });
  const { model, choices, data, usage } = value as Record<string, unknown>;
  const report = isResponse ? reportIn(value) : null;
  const isVectors = isResponse && choices === undefined && data !== undefined;
  const tokens: unknown = Reflect.get(member, 'output_tokens');
  if (isResponse && typeof model !== 'string')
    throw fail('record_malformed', { reason: 'the response names no model' });
  if (tokens !== undefined && !isShape(Base64, tokens))
    throw fail('record_malformed', { reason: 'its output_tokens are not base64 in canonical form' });
  return {
    envelope: member,
    payload: Buffer.from(member.payload, 'base64'),
    response: isResponse && !isVectors ? { model: String(model), choices, usage } : null,
    vectors: isVectors ? { model: String(model), data, usage } : null,
    report,
    outputTokens: tokens === undefined ? null : Buffer.from(tokens, 'base64'),
    stream,
    unsigned: [
      ...new Set([
        ...unsigned,
        ...(stream === null ? [] : [...looseMembers(stream.events), ...stream.fields]),
      ]),
      // All figures of a card are signed together.
      ...(isResponse && report === null
        ? Object.keys(value).filter((name) => !boundIn(isVectors).includes(name))
        : []),
      ...unsignedMembers(member, isVectors || report !== null),
    ],
  };
}

/** Null: not a document of `hearth eval`. A file that contains an answer never counts as one, whatever its `object` is. */
function reportIn(value: object): object | null {
  const { evidence: _, ...report } = value as Record<string, unknown>;
  const isReport = report['object'] === EVAL_OBJECT && !('choices' in report) && !('data' in report);
  return isReport ? report : null;
}

const boundIn = (isVectors: boolean): readonly string[] => [
  'model',
  isVectors ? 'data' : 'choices',
  'usage',
  'evidence',
];

const BOUND_MEMBERS: readonly string[] = ['payloadType', 'payload', 'signatures'];

const unsignedMembers = (member: Envelope, hasNoTokens: boolean): string[] =>
  Object.keys(member)
    .filter((name) => !BOUND_MEMBERS.includes(name) && (hasNoTokens || name !== 'output_tokens'))
    .map((name) => `evidence.${name}`);

interface Signed {
  readonly predicate: Pick<Predicate, 'issuer'>;
}

/** L0. The statement is parsed only after its bytes are verified. */
export function checkSignature<S extends Signed>(
  record: OpenedRecord,
  keyring: Keyring | null,
  parse: (payload: Buffer) => S,
): { readonly findings: Finding[]; readonly statement: S | null } {
  const finding = (outcome: Finding['outcome'], detail: string): Finding => ({
    level: 'L0',
    name: 'signature',
    outcome,
    detail,
  });
  const { envelope, payload } = record;
  if (keyring === null) {
    const detail = "no issuer's key is known here; give one with --pubkey FILE";
    return { findings: [finding('incomparable', detail)], statement: null };
  }
  if (envelope.payloadType !== EVIDENCE_PAYLOAD_TYPE)
    return { findings: [finding('failed', 'the payload type is not that of a record')], statement: null };

  const [signature] = envelope.signatures;
  if (signature === undefined) return { findings: [finding('failed', 'it is not signed')], statement: null };

  const signed = { payloadType: envelope.payloadType, payload, sig: Buffer.from(signature.sig, 'base64') };
  const key = keyring.keys.find(({ keyid }) => keyid === signature.keyid);
  if (key === undefined) {
    // The keyid is unsigned, so a known key's signature remains valid under another keyid.
    const isRelabelled = keyring.keys.some(({ publicKey }) => isSignedBy(publicKey, signed));
    const isForged = isRelabelled || claimedInstance(payload) === keyring.instanceId;
    return { findings: [unknownKey(keyring, isForged)], statement: null };
  }
  if (!isSignedBy(key.publicKey, signed))
    return { findings: [finding('failed', 'the signature does not match the payload')], statement: null };

  const statement = parse(payload);
  const broken = brokenTerms(statement.predicate, key, keyring);
  const findings = [
    finding('passed', `signed by ${key.keyid}`),
    ...broken.map(({ outcome, detail }) => finding(outcome, detail)),
  ];
  return { findings, statement };
}

/** A home knows every key it ever had, so a record in its name under another key is forged. */
function unknownKey(keyring: Keyring, isForged: boolean): Finding {
  const finding = { level: 'L0', name: 'signature' } as const;
  if (keyring.isHome === true && !isForged) {
    const detail = 'the key that signed it is not known here; give its public key with --pubkey FILE';
    return { ...finding, outcome: 'incomparable', detail };
  }
  const later = keyring.instanceId === null ? `; ${LATER_KEY}` : '';
  return { ...finding, outcome: 'failed', detail: `the keyid is not that of a trusted key${later}` };
}

const LATER_KEY =
  'if the issuer has rotated its key, ask it for the output of hearth evidence pubkey --history and give that';

/** The payload is unsigned here, so this may only count against the record. */
function claimedInstance(payload: Buffer): unknown {
  try {
    const statement = parseStrictly(payload);
    return readMember(readMember(readMember(statement, 'predicate'), 'issuer'), 'instance_id');
  } catch {
    return undefined;
  }
}

export function parseStatement(payload: Buffer): Statement {
  const value = parsePayload(payload);
  if (isShape(Statement, value)) return value;
  throw fail('record_malformed', { reason: 'its payload is not a frozen-v1 statement' });
}

export function parsePayload(payload: Buffer): unknown {
  try {
    return parseStrictly(payload);
  } catch (cause) {
    throw fail('record_malformed', { reason: 'its payload is not JSON' }, cause);
  }
}

export interface RequestFile {
  readonly bytes: Uint8Array;
  readonly value: unknown;
}

export interface Bindings {
  readonly record: OpenedRecord;
  readonly statement: Statement;
  readonly request: RequestFile | null;
  readonly nonce?: string | undefined;
}

export function checkBindings({ record, statement, request, nonce }: Bindings): Finding[] {
  const { predicate, subject } = statement;
  const { outputTokens } = record;
  const tokensDigest = subject[1].digest.sha256;
  return [
    ...checkAsked(predicate.request, { request, nonce }),
    checkAnswered(statement, record),
    outputTokens === null
      ? skipped('output tokens', 'the file does not carry them')
      : compare('output tokens', sha256Hex(outputTokens), tokensDigest, {
          passed: `${outputTokens.length / 4} tokens as signed`,
          failed: 'the token ids next to the record are not those that were signed',
        }),
    judge('statement', isConsistent(statement, record), {
      passed: 'its parts agree with each other',
      failed: 'its parts name different output tokens, counts or finish reasons',
    }),
    ...notSigned(record),
  ];
}

export function checkAsked(
  signed: Omit<Predicate['request'], 'route'>,
  { request, nonce }: Pick<Bindings, 'request' | 'nonce'>,
): Finding[] {
  return [
    ...(nonce === undefined ? [] : [nonceFinding(signed.nonce, nonce)]),
    request === null
      ? skipped('request', 'no request was given (--request FILE)')
      : compare('request', canonicalDigest(request.value), signed.canonical_sha256, {
          passed:
            sha256Hex(request.bytes) === signed.raw_body_sha256
              ? 'the very bytes that were sent'
              : 'the same JSON value; its bytes were written differently',
          failed: 'it is not the request that was answered',
        }),
  ];
}

function checkAnswered(statement: Pick<Statement, 'subject'>, { response, vectors }: OpenedRecord): Finding {
  if (response === null && vectors === null) return skipped('response', 'the file holds the bare record');
  return judge('response', response !== null && isSignedResponse(statement, response), {
    passed: 'model, choices and usage are as signed',
    failed: 'model, choices or usage differ from what was signed',
  });
}

export function checkStream({ stream, response }: OpenedRecord): Finding[] {
  if (stream === null || stream.events.length === 0) return [];
  if (response === null) return [failed('stream', 'no stream has a record of this kind')];
  const differences = streamDifferences(stream.events, response);
  return [
    judge('stream', differences.length === 0, {
      passed: 'its events say what was signed',
      failed: `its events say something else than what was signed: ${namesIn(differences)}`,
    }),
  ];
}

const MOST_NAMES = 12;
const MOST_CHARACTERS = 64;

export function notSigned({ unsigned }: Pick<OpenedRecord, 'unsigned'>): Finding[] {
  if (unsigned.length === 0) return [];
  const detail = `not signed, so anybody could have written them: ${namesIn(unsigned)}`;
  return [{ level: 'L1', name: 'members', outcome: 'noted', detail }];
}

function namesIn(all: readonly string[]): string {
  const names = all.slice(0, MOST_NAMES).map((name) => name.slice(0, MOST_CHARACTERS));
  const more = all.length - names.length;
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function nonceFinding(signed: string | undefined, sent: string): Finding {
  const failed =
    signed === undefined ? 'the request that was answered had none' : 'the record has another one';
  return judge('nonce', signed === sent, { passed: 'the one that was sent', failed });
}

export function isSignedResponse(
  { subject }: Pick<Statement, 'subject'>,
  response: AnsweredResponse,
): boolean {
  return digestOrNull(() => responseSha256(response)) === subject[0].digest.sha256;
}

const canonicalDigest = (value: unknown): string | null => digestOrNull(() => canonicalSha256(value));

/** A value without a canonical form was never signed, so no digest matches. */
function digestOrNull(digest: () => string): string | null {
  try {
    return digest();
  } catch (error) {
    if (!isSvcError(error)) throw error;
    return null;
  }
}

function isConsistent({ predicate, subject }: Statement, { response, outputTokens }: OpenedRecord): boolean {
  const { output, prompt, model } = predicate;
  if (output.tokens_sha256 !== subject[1].digest.sha256) return false;
  if (outputTokens !== null && outputTokens.length !== 4 * output.n_tokens) return false;
  if (response === null) return true;
  const [choice]: unknown[] = Array.isArray(response.choices) ? response.choices : [];
  return (
    response.model === model.id &&
    readMember(choice, 'finish_reason') === output.finish_reason &&
    readMember(response.usage, 'prompt_tokens') === prompt.n_tokens &&
    readMember(response.usage, 'completion_tokens') === output.n_tokens
  );
}

const readMember = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

export interface ChainedRecord {
  readonly statement: Signed;
  readonly payload: Uint8Array;
}

/** L1 over several records: within one boot, numbers and links must match. Gaps are reported, not faulted. */
export function checkChain(records: readonly ChainedRecord[]): Finding[] {
  const findings: Finding[] = [];
  const ordered = records.toSorted(
    (a, b) =>
      issuerBoot(a.statement).localeCompare(issuerBoot(b.statement)) ||
      issuerSeq(a.statement) - issuerSeq(b.statement),
  );
  for (const [index, next] of ordered.entries()) {
    const previous = ordered[index - 1];
    if (previous === undefined || issuerBoot(previous.statement) !== issuerBoot(next.statement)) continue;
    findings.push(link(issuerBoot(next.statement), previous, next));
  }
  return findings;
}

export const issuerBoot = (statement: Signed): string => statement.predicate.issuer.boot_id;
const issuerSeq = (statement: Signed): number => statement.predicate.issuer.seq;

function link(boot: string, previous: ChainedRecord, next: ChainedRecord): Finding {
  const [before, after] = [issuerSeq(previous.statement), issuerSeq(next.statement)];
  const place = `${before} → ${after} of boot ${boot.slice(0, 8)}`;
  const digest = sha256Hex(previous.payload);
  if (before === after) {
    return digest === sha256Hex(next.payload)
      ? skipped('chain', `${place}: the same record twice`)
      : failed('chain', `${place}: two records claim the same place`);
  }
  if (after > before + 1) return skipped('chain', `${place}: ${after - before - 1} records are not here`);
  return compare('chain', digest, next.statement.predicate.issuer.prev_evidence_sha256, {
    passed: `${place} linked`,
    failed: `${place}: the later record follows another one`,
  });
}

export function conclude(findings: readonly Finding[]): Verdict {
  const has = (outcome: Finding['outcome']): boolean =>
    findings.some((finding) => finding.outcome === outcome);
  const exitCode = has('failed') ? 1 : has('incomparable') ? 2 : 0;
  let level: Level | null = null;
  for (const step of ['L0', 'L1', 'L2', 'L3', 'L4'] as const) {
    const here = findings.filter(
      (finding) => finding.level === step && finding.name !== 'chain' && finding.outcome !== 'noted',
    );
    const isReached = here.length > 0 && here.every(({ outcome }) => outcome === 'passed');
    if (isReached) level = step;
    // A replay compares artefacts itself, and a tolerant check needs no equal ones; below that, no level may be
    // skipped.
    else if (step === 'L0' || step === 'L1') break;
  }
  return { exitCode, level: exitCode === 0 ? level : null, findings };
}

interface Details {
  readonly passed: string;
  readonly failed: string;
}

export const compare = (
  name: string,
  actual: string | null,
  expected: string | null,
  details: Details,
): Finding => judge(name, actual !== null && actual === expected, details);

export const judge = (name: string, isPassed: boolean, details: Details): Finding =>
  isPassed ? { level: 'L1', name, outcome: 'passed', detail: details.passed } : failed(name, details.failed);

const failed = (name: string, detail: string): Finding => ({ level: 'L1', name, outcome: 'failed', detail });
export const skipped = (name: string, detail: string): Finding => ({
  level: 'L1',
  name,
  outcome: 'skipped',
  detail,
});

type Term = { readonly outcome: 'failed' | 'incomparable'; readonly detail: string };

function brokenTerms(
  { issuer }: Pick<Predicate, 'issuer'>,
  key: TrustedKey,
  keyring: Pick<Keyring, 'instanceId' | 'isPinned'>,
): Term[] {
  const terms: Term[] = [];
  if (issuer.keyid !== key.keyid)
    terms.push({ outcome: 'failed', detail: 'the statement names another key' });
  if (keyring.isPinned === true) return terms;
  if (keyring.instanceId === null) {
    // After a rotation, only the history leads from the id to the key; without it, the id is a mere claim.
    if (key.instanceId !== issuer.instance_id) {
      const detail = `the key by itself belongs to ${key.instanceId}, and the record speaks for ${issuer.instance_id}; give the output of evidence pubkey --history`;
      terms.push({ outcome: 'incomparable', detail });
    }
    return terms;
  }
  if (keyring.instanceId !== issuer.instance_id) {
    const detail = `the key belongs to ${keyring.instanceId}, not to ${issuer.instance_id}`;
    terms.push({ outcome: 'failed', detail });
  }
  const { from, until } = key.period;
  // All are whole seconds of UTC in one form, so text compares as time.
  const late = until !== null && issuer.issued_at > until;
  const early = from !== null && issuer.issued_at < from;
  if (late || early) {
    const why = late ? `after the key was replaced at ${until}` : `before the key existed (${from})`;
    terms.push({ outcome: 'failed', detail: `it is dated ${issuer.issued_at}, ${why}` });
  }
  return terms;
}
