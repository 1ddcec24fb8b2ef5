/** Checks of a record without the model: its signature, its bindings, and whether its settings match the request. */
import { Check } from 'typebox/value';
import { isSvcError } from '../../../lib/errors/svc-error.ts';
import { freezeRequest } from '../../../trust/evidence/freeze.ts';
import type { Keyring } from '../../../trust/evidence/keyring.ts';
import { type AskedSampling, checkSampling } from '../../../trust/evidence/sampling.ts';
import type { Statement } from '../../../trust/evidence/statement.ts';
import {
  checkBindings,
  checkSignature,
  checkStream,
  type Finding,
  type OpenedRecord,
  type RequestFile,
} from '../../../trust/evidence/verify.ts';
import {
  type AnyStatement,
  isCard,
  isOfVectors,
  parseAnyStatement,
} from '../../../trust/evidence/any-statement.ts';
import { checkCardBindings } from '../../../trust/evidence/eval-card.ts';
import { checkVectorBindings } from '../../../trust/evidence/vector-checks.ts';
import { ChatRequest } from '../../../wire/inference/chat.ts';
import { CompletionRequest } from '../../../wire/inference/completions.ts';
import { routes } from '../../../wire/routes.ts';
import { type GenerationFields, readSampling, readStop, resolveMaxTokens } from '../generation/parameters.ts';

export interface CheckedClaims {
  readonly findings: Finding[];
  readonly statement: AnyStatement | null;
  readonly record: OpenedRecord;
  readonly request: RequestFile | null;
}

export function checkClaims(
  record: OpenedRecord,
  keyring: Keyring | null,
  asked: { readonly request: RequestFile | null; readonly nonce?: string | undefined },
): CheckedClaims {
  const { request } = asked;
  const { findings, statement } = checkSignature(record, keyring, parseAnyStatement);
  if (statement === null) return { findings, statement, record, request };
  if (isOfVectors(statement)) {
    findings.push(...checkVectorBindings(record, statement, asked));
  } else if (isCard(statement)) {
    findings.push(...checkCardBindings(record, statement, asked));
  } else {
    findings.push(...checkBindings({ record, statement, ...asked }));
    findings.push(...sampled(findings, statement, request));
  }
  findings.push(...checkStream(record));
  return { findings, statement, record, request };
}

function sampled(
  findings: readonly Finding[],
  statement: Statement,
  request: RequestFile | null,
): readonly Finding[] {
  const isAnswered = findings.some(({ name, outcome }) => name === 'request' && outcome === 'passed');
  return request !== null && isAnswered ? [askedSampling(statement, request.value)] : [];
}

function askedSampling({ predicate }: Statement, request: unknown): Finding {
  try {
    const asked = readAskedSampling(request, predicate.request);
    if (asked !== null) return checkSampling(predicate, asked);
    return cannot('sampling', `the request is not one for ${requestRoute(predicate.request)}`, 'L1');
  } catch (error) {
    if (!isSvcError(error)) throw error;
    return cannot('sampling', `this version of the server refuses the request: ${error.message}`, 'L1');
  }
}

/** Null: not a request of this route. Throws the refusal of the service. */
function readAskedSampling(
  request: unknown,
  { route }: Statement['predicate']['request'],
): AskedSampling | null {
  const isChat = route === undefined;
  if (isChat && Check(ChatRequest, request)) return requestSampling(request);
  return !isChat && Check(CompletionRequest, request) ? requestSampling(request) : null;
}

function requestSampling(request: GenerationFields): AskedSampling {
  return {
    // Neither the bytes nor the time affect sampling.
    frozen: freezeRequest(Buffer.alloc(0), { ...request }, { nowMs: 0, nonce: null }),
    named: readSampling(request),
    maxTokens: resolveMaxTokens(request).maxTokens,
    stop: request.stop === null || request.stop === undefined ? null : readStop(request.stop),
  };
}

export const requestRoute = ({ route }: Statement['predicate']['request']): string =>
  route ?? routes.chatCompletions.path;

export const cannot = (name: string, detail: string, level: Finding['level'] = 'L3'): Finding => ({
  level,
  name,
  outcome: 'incomparable',
  detail,
});
