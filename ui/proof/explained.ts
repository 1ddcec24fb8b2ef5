import { Predicate } from '../../src/trust/evidence/statement.ts';
import { type AnyStatement, isCard, isOfVectors } from '../../src/trust/evidence/any-statement.ts';
import { EvalPredicate } from '../../src/trust/evidence/eval-statement.ts';
import { VectorPredicate } from '../../src/trust/evidence/vector-statement.ts';

export interface Explained {
  readonly name: string;
  readonly value: string;
  readonly meaning: string;
}

export interface Part {
  readonly name: PartName;
  readonly meaning: string;
  readonly fields: readonly Explained[];
}

type PartName = keyof Predicate | keyof VectorPredicate | keyof EvalPredicate;

const PARTS: Readonly<Record<PartName, string>> = {
  issuer: 'Who signed, when, and where in the chain of records since the service started.',
  request: 'What was asked, as a hash: the record holds no text.',
  prompt: 'What the model was given: the chat template, the rendered text and its tokens, as hashes.',
  model: 'The file of weights, by the hash of all its bytes.',
  server: 'The program that rendered the prompt and read the tokens.',
  backend:
    'The native libraries that computed the answer, each by its hash, and the features of the processor.',
  exec: 'How it was computed. Two runs are comparable only if all of this is equal.',
  sampling: 'How the tokens were chosen.',
  output: 'The result: the tokens, and a chain of hashes over their logits.',
  vectors: 'The result: the tokens of each input, as hashes, and the form of the vectors.',
  reference: 'The model that it was compared with, by the hash of its file.',
  settings: 'What was set for its loads.',
  set: 'The texts that it was measured with.',
  report: 'The result: what hearth eval measured.',
};

interface SchemaLike {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, SchemaLike>>;
  readonly anyOf?: readonly SchemaLike[];
}

export function explain(statement: AnyStatement): Part[] {
  const schema = isCard(statement) ? EvalPredicate : isOfVectors(statement) ? VectorPredicate : Predicate;
  const schemas = (schema as unknown as SchemaLike).properties ?? {};
  const parts: Readonly<Partial<Record<PartName, object | null>>> = statement.predicate;
  return (Object.keys(PARTS) as PartName[]).flatMap((name) => {
    const part = parts[name];
    if (part === undefined || part === null) return [];
    const fields = Object.entries(part).map(([field, value]) => ({
      name: field,
      value: shown(value),
      meaning: meaningOf(schemas[name]?.properties?.[field]),
    }));
    return [{ name, meaning: PARTS[name], fields }];
  });
}

function meaningOf(schema: SchemaLike | undefined): string {
  return (
    schema?.description ??
    schema?.anyOf?.find(({ description }) => description !== undefined)?.description ??
    ''
  );
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.map(shown).join('\n') || 'none';
  if (typeof value === 'object' && value !== null) return Object.values(value).map(shown).join('  ');
  return value === null ? 'none' : String(value);
}
