import { isSvcError } from '../../lib/errors/svc-error.ts';
import { canonicalSha256 } from '../identity/canonical.ts';
import type { Envelope } from '../identity/dsse.ts';
import { type EvalPredicate, EVAL_TYPE, type EvalStatement } from './eval-statement.ts';
import { type BackendProvenance, type Signer, signStatement, statedBackend } from './record.ts';
import { STATEMENT_TYPE } from './statement.ts';
import { compare, type Finding, judge, notSigned, type OpenedRecord, skipped } from './verify.ts';

export interface EvalFacts
  extends Pick<EvalPredicate, 'model' | 'reference' | 'settings' | 'set' | 'report'> {
  readonly backend: BackendProvenance;
  readonly host: Parameters<typeof statedBackend>[1];
}

export function buildEvalCard(
  { backend, host, ...facts }: EvalFacts,
  { server, ...signer }: Signer & Pick<EvalPredicate, 'server'>,
): Envelope {
  return signStatement(
    signer,
    (issuer): EvalStatement => ({
      _type: STATEMENT_TYPE,
      subject: [
        { name: 'response', digest: { sha256: reportSha256(facts.report) } },
        { name: 'model', digest: { sha256: facts.model.blob_sha256 } },
      ],
      predicateType: EVAL_TYPE,
      predicate: { issuer, server, backend: statedBackend(backend, host), ...facts },
    }),
  ).envelope;
}

const reportSha256 = (report: unknown): string => canonicalSha256(report);

/** L1: the figures in the file are the signed ones. */
export function checkCardBindings(
  record: OpenedRecord,
  { predicate, subject }: EvalStatement,
  { nonce }: { readonly nonce?: string | undefined },
): Finding[] {
  const { report, model, reference } = predicate;
  const [signed, file] = subject;
  const isConsistent =
    signed.digest.sha256 === reportSha256(report) &&
    file.digest.sha256 === model.blob_sha256 &&
    report.model === model.id &&
    (report.against?.reference ?? null) === (reference?.id ?? null);
  return [
    ...(nonce === undefined ? [] : [judge('nonce', false, { passed: '', failed: 'a card has no nonce' })]),
    record.response === null
      ? skipped('report', 'the file holds the bare card')
      : compare('report', shownSha256(record.report), signed.digest.sha256, {
          passed: 'the figures are as signed',
          failed: 'the figures differ from what was signed',
        }),
    judge('statement', isConsistent, {
      passed: 'its parts agree with each other',
      failed: 'its parts name another model, reference or report',
    }),
    ...(record.outputTokens === null
      ? []
      : [judge('output tokens', false, { passed: '', failed: 'a card has none' })]),
    ...notSigned(record),
  ];
}

function shownSha256(report: OpenedRecord['report']): string | null {
  if (report === null) return null;
  try {
    return reportSha256(report);
  } catch (error) {
    if (!isSvcError(error)) throw error;
    return null;
  }
}
