/**
 * Checks a record that was passed on: what the Hearth in between signed, and inside it what the one that answered signed,
 * in that one's own terms: its model, its request, its nonce, its key. Pure.
 */
import { Check as isShape } from '#typebox/value';
import { fail } from '../../../lib/errors/svc-error.ts';
import { sha256Hex } from '../../identity/canonical.ts';
import { type Keyring, parseKeyring } from '../keyring.ts';
import { Statement } from '../statement.ts';
import {
  type Bindings,
  checkAnswered,
  checkAsked,
  checkBindings,
  checkSignature,
  compare,
  type Finding,
  judge,
  notSigned,
  type OpenedRecord,
  openRecord,
  parsePayload,
  parseStatement,
  skipped,
  UPSTREAM_RECORD,
} from '../verify.ts';
import { type RelayPredicate, RelayStatement } from './statement.ts';

type Asked = Pick<Bindings, 'request' | 'nonce'>;

/** A record in the terms of whoever made it. */
export interface RecordThere {
  readonly record: OpenedRecord;
  readonly request: Bindings['request'];
}

/** Either kind of record. */
export function parseAnyStatement(payload: Buffer): Statement | RelayStatement {
  const value = parsePayload(payload);
  if (isShape(Statement, value) || isShape(RelayStatement, value)) return value;
  throw fail('record_malformed', { reason: 'its payload is not a frozen-v1 statement' });
}

export const isRelay = (statement: Statement | RelayStatement): statement is RelayStatement =>
  isShape(RelayStatement, statement);

/** The request as the upstream gets it: the client's, with the name that the model has there. */
export const requestThere = (request: object, model: string): Record<string, unknown> => ({
  ...request,
  model,
});

export interface RelayFindings {
  readonly findings: Finding[];
  /** What the upstream signed; null where that does not hold, or is not at hand. */
  readonly there: (RecordThere & { readonly statement: Statement }) | null;
}

/** L1 of the statement in between, then L0 and L1 of the record inside. */
export function checkRelay(record: OpenedRecord, statement: RelayStatement, asked: Asked): RelayFindings {
  const { predicate, subject } = statement;
  const { upstream } = predicate;
  const findings = [
    ...checkAsked(predicate.request, asked),
    checkAnswered(statement, record.response),
    ...notSigned({ unsigned: record.unsigned.filter((name) => name !== UPSTREAM_RECORD) }),
  ];
  if (record.response !== null) {
    findings.push(
      judge('statement', record.response.model === predicate.model, {
        passed: 'its parts agree with each other',
        failed: 'it names another model than the response',
      }),
    );
  }
  if (record.upstream === undefined) {
    const detail = 'the file does not carry the record of the upstream';
    return { findings: [...findings, skipped('upstream record', detail)], there: null };
  }
  const there = termsThere(record, upstream.model, asked.request);
  const inner = checkRelayed(there, upstream);
  findings.push(
    compare('upstream record', sha256Hex(there.record.payload), upstream.payload_sha256, {
      passed: `the one that was signed, of instance ${upstream.instance_id}`,
      failed: 'it is not the one that was signed',
    }),
    ...inner.findings.map((finding) => ({ ...finding, name: `upstream ${finding.name}` })),
  );
  if (inner.statement === null) return { findings, there: null };
  const { issuer } = inner.statement.predicate;
  const isSame =
    issuer.instance_id === upstream.instance_id &&
    issuer.boot_id === upstream.boot_id &&
    inner.statement.subject[1].digest.sha256 === subject[1].digest.sha256;
  findings.push(
    judge('upstream terms', isSame, {
      passed: 'both records name the same instance, boot and output tokens',
      failed: 'the two records name different instances, boots or output tokens',
    }),
  );
  return { findings, there: { ...there, statement: inner.statement } };
}

/** L0 and L1 of what an upstream signed, by the key that is expected there. */
export function checkRelayed(
  { record, request }: RecordThere,
  { public_key: publicKey, nonce }: Pick<RelayPredicate['upstream'], 'public_key' | 'nonce'>,
): { readonly findings: Finding[]; readonly statement: Statement | null } {
  const { findings, statement } = checkSignature(record, pinned(publicKey), parseStatement);
  if (statement !== null) findings.push(...checkBindings({ record, statement, request, nonce }));
  return { findings, statement };
}

/** The record inside, with the response and the request under the name that the model has there. */
function termsThere(outer: OpenedRecord, model: string, request: Bindings['request']): RecordThere {
  const { response, upstream: evidence } = outer;
  const isBody = typeof request?.value === 'object' && request.value !== null;
  const value = isBody ? requestThere(request.value, model) : null;
  return {
    record: openRecord(response === null ? evidence : { ...response, model, evidence }),
    request: value === null ? null : { value, bytes: Buffer.from(JSON.stringify(value)) },
  };
}

/** The key was pinned for whoever answers there. */
function pinned(pem: string): Keyring | null {
  try {
    return { ...parseKeyring(pem), instanceId: null, isPinned: true };
  } catch {
    return null;
  }
}
