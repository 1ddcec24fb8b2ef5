/** Checks a record of vectors: L1 binding to request and response, L3 a replay with the same bits. */
import { isDeepStrictEqual } from 'node:util';
import { isSvcError } from '../../lib/errors/svc-error.ts';
import { tupleDifferences, type ModelFiles } from './compare.ts';
import {
  checkAsked,
  compare,
  type Finding,
  judge,
  notSigned,
  type OpenedRecord,
  type RequestFile,
  skipped,
} from './verify.ts';
import { answeredVectors, vectorResponseSha256, vectorsSha256 } from './vector-record.ts';
import type { VectorPredicate, VectorStatement } from './vector-statement.ts';

export function checkVectorBindings(
  record: OpenedRecord,
  statement: VectorStatement,
  asked: { readonly request: RequestFile | null; readonly nonce?: string | undefined },
): Finding[] {
  const { vectors, response } = record;
  const { request } = asked;
  const bound = checkAsked(statement.predicate.request, asked);
  const isAnswered = bound.some(({ name, outcome }) => name === 'request' && outcome === 'passed');
  return [
    ...bound,
    ...(vectors === null && response === null
      ? [skipped('response', 'the file holds the bare record')]
      : answered(statement, vectors)),
    ...(request !== null && isAnswered ? [asAsked(statement.predicate, request.value)] : []),
    ...notSigned(record),
  ];
}

function answered(statement: VectorStatement, response: OpenedRecord['vectors']): Finding[] {
  const [signed, bits] = statement.subject;
  const vectors = response === null ? null : answeredVectors(response.data);
  const whole = response === null || vectors === null ? null : { response, vectors };
  return [
    compare('response', whole && digestOrNull(whole.response, whole.vectors), signed.digest.sha256, {
      passed: 'model, data and usage are as signed',
      failed: 'model, data or usage differ from what was signed',
    }),
    compare('vectors', whole && vectorsSha256(whole.vectors), bits.digest.sha256, {
      passed: `the bits of ${vectors?.length ?? 0} vectors as signed`,
      failed: 'the numbers of the vectors are not those that were signed',
    }),
    judge('statement', whole !== null && isConsistent(statement.predicate, whole.response, whole.vectors), {
      passed: 'its parts agree with each other',
      failed: 'its parts name another model, other inputs, counts of tokens or widths than the answer',
    }),
  ];
}

function digestOrNull(
  response: NonNullable<OpenedRecord['vectors']>,
  vectors: readonly Float32Array[],
): string | null {
  try {
    return vectorResponseSha256(response, vectors);
  } catch (error) {
    if (!isSvcError(error)) throw error;
    return null;
  }
}

function isConsistent(
  { model, vectors: { inputs, width } }: VectorPredicate,
  { model: answering, data, usage }: NonNullable<OpenedRecord['vectors']>,
  vectors: readonly Float32Array[],
): boolean {
  const tokens = inputs.reduce((sum, { n_tokens }) => sum + n_tokens, 0);
  const items = Array.isArray(data) ? (data as readonly unknown[]) : [];
  return (
    answering === model.id &&
    items.length === inputs.length &&
    inputs.every(({ truncated }, at) => (readMember(items[at], 'truncated') === true) === truncated) &&
    items.every((item, at) => readMember(item, 'index') === at) &&
    vectors.every(({ length }) => length === width) &&
    readMember(usage, 'prompt_tokens') === tokens
  );
}

function asAsked({ vectors: { width, inputs } }: VectorPredicate, request: unknown): Finding {
  const dimensions = readMember(request, 'dimensions');
  const input = readMember(request, 'input');
  // A list of token ids is one input, as a text is.
  const count = Array.isArray(input) && typeof input[0] !== 'number' ? input.length : 1;
  const isSame =
    (dimensions === undefined || dimensions === null || dimensions === width) &&
    count === inputs.length &&
    (readMember(request, 'truncate') === true || inputs.every(({ truncated }) => !truncated));
  return judge('settings', isSame, {
    passed: 'as many inputs, of the width and cut as the request asks for',
    failed: 'other inputs, another width or cut where the request does not ask for it',
  });
}

const readMember = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

export interface ReplayedVectors extends Pick<VectorPredicate, 'backend' | 'exec' | 'vectors'> {
  readonly model: ModelFiles;
  readonly bits: readonly Float32Array[];
  readonly serverSha256: string;
}

const NO_BITS: readonly string[] = ['n_threads'];

/** L3: on other terms never "verified"; on the same ones, the inputs and the bits of all vectors must be equal. */
export function checkVectorReplay(statement: VectorStatement, here: ReplayedVectors): Finding[] {
  const { predicate: claimed, subject } = statement;
  const different = tupleDifferences(claimed, here, NO_BITS);
  const { inputs } = claimed.vectors;
  const isSameInput = isDeepStrictEqual(inputs, here.vectors.inputs);
  const isOther = claimed.server.server_source_sha256 !== here.serverSha256;
  if (!isSameInput && isOther)
    different.push('the inputs: this version of the server reads them as other tokens');
  if (different.length > 0) {
    const detail = `not comparable: ${different.join('; ')}`;
    return [{ level: 'L3', name: 'replay', outcome: 'incomparable', detail }];
  }
  const tokens = inputs.reduce((sum, { n_tokens }) => sum + n_tokens, 0);
  const form = (vectors: VectorPredicate['vectors']): object => ({ ...vectors, inputs: [] });
  const replayed = (name: string, isEqual: boolean, detail: string): Finding => ({
    level: 'L3',
    name,
    outcome: isEqual ? 'passed' : 'failed',
    detail,
  });
  return [
    replayed('inputs', isSameInput, `${tokens} tokens of ${inputs.length} inputs`),
    replayed(
      'form',
      isDeepStrictEqual(form(claimed.vectors), form(here.vectors)),
      'width, pooling and scale',
    ),
    replayed(
      'vectors',
      vectorsSha256(here.bits) === subject[1].digest.sha256,
      `bits of ${inputs.length} vectors of ${claimed.vectors.width} numbers`,
    ),
  ];
}
