/** A card verifies as it was signed, and under no alteration. */
import { describe, expect, it } from 'vitest';
import { sampleCard } from '../../../test/support/records/sample-card.ts';
import { sampleFacts, sampleResponse } from '../../../test/support/records/sample-record.ts';
import { isCard, parseAnyStatement } from './any-statement.ts';
import { checkCardBindings } from './eval-card.ts';
import { parseKeyring } from './keyring.ts';
import { checkSignature, conclude, openRecord } from './verify.ts';

const facts = sampleFacts();
const keyring = parseKeyring(facts.identity.keys.publicKeyPem);
const card = sampleCard(facts);

function verdictOf(file: unknown, nonce?: string) {
  const record = openRecord(file);
  const { findings, statement } = checkSignature(record, keyring, parseAnyStatement);
  if (statement === null || !isCard(statement)) return conclude(findings);
  return conclude([...findings, ...checkCardBindings(record, statement, { nonce })]);
}

type Path = readonly (string | number)[];

/** Every value of a document, by the way to it. */
function pathsOf(value: unknown, way: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [way];
  return Object.entries(value).flatMap(([name, member]) => pathsOf(member, [...way, name]));
}

function changed(value: unknown, [name, ...rest]: Path): unknown {
  if (name === undefined) return typeof value === 'number' ? value + 1 : `${String(value)}x`;
  const members = value as Record<string, unknown>;
  const copy = Array.isArray(value) ? [...value] : { ...members };
  Reflect.set(copy, name, changed(members[name], rest));
  return copy;
}

const { evidence, ...report } = card;
const paths = pathsOf(report);

describe('a card', () => {
  it('verifies beside its figures, and bare', () => {
    expect(verdictOf(card)).toMatchObject({ exitCode: 0, level: 'L1' });
    expect(verdictOf(evidence)).toMatchObject({ exitCode: 0, level: 'L0' });
  });

  it.each(paths.map((way) => [way.join('.'), way] as const))('does not verify with another %s', (_, way) => {
    expect(verdictOf(changed(card, way)).exitCode).toBe(1);
  });

  it('does not verify with a figure more or less, a nonce, tokens, or figures that have no canonical form', () => {
    const { needle: _, ...less } = card;
    expect(paths.length).toBeGreaterThan(30);
    expect(verdictOf({ ...card, more: 1 }).exitCode).toBe(1);
    expect(verdictOf(less).exitCode).toBe(1);
    expect(verdictOf({ ...card, memory_bytes: 2 ** 60 }).exitCode).toBe(1);
    expect(verdictOf(card, 'n-1').exitCode).toBe(1);
    expect(verdictOf({ ...evidence, output_tokens: 'AAAA' }).exitCode).toBe(1);
  });

  it('does not verify whose parts speak of different models', () => {
    const { model } = facts;
    expect(verdictOf(sampleCard(facts, { model: { ...model, id: 'other' } })).exitCode).toBe(1);
    expect(verdictOf(sampleCard(facts, { reference: null })).exitCode).toBe(1);
    expect(verdictOf(sampleCard(facts, { reference: { ...model, id: 'another' } })).exitCode).toBe(1);
  });

  it('lends its name to no record of an answer', () => {
    const { body } = sampleResponse(facts);
    const named = openRecord({ ...body, object: 'svc.eval', more: 'anything' });
    expect(named.report).toBeNull();
    expect(named.unsigned).toContain('more');
    // Figures before the record of an answer, and the words of an answer before a card.
    expect(openRecord({ ...report, evidence: body.evidence }).response).toMatchObject({ choices: undefined });
    expect(verdictOf({ ...body, evidence }).exitCode).toBe(1);
  });
});
