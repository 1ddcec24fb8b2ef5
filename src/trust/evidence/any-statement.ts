import { Check as isShape } from 'typebox/value';
import { EVAL_TYPE, EvalStatement } from './eval-statement.ts';
import { PREDICATE_TYPE, type Statement } from './statement.ts';
import { VECTORS_TYPE, VectorStatement } from './vector-statement.ts';
import { parsePayload, parseStatement } from './verify.ts';

export type AnswerStatement = Statement | VectorStatement;

export type AnyStatement = AnswerStatement | EvalStatement;

export function parseAnyStatement(payload: Buffer): AnyStatement {
  const value = parsePayload(payload);
  if (isShape(VectorStatement, value) || isShape(EvalStatement, value)) return value;
  return parseStatement(payload);
}

export const isOfAnswer = (statement: AnyStatement): statement is Statement =>
  statement.predicateType === PREDICATE_TYPE;

export const isOfVectors = (statement: AnyStatement): statement is VectorStatement =>
  statement.predicateType === VECTORS_TYPE;

export const isCard = (statement: AnyStatement): statement is EvalStatement =>
  statement.predicateType === EVAL_TYPE;
