/** Values that a schema lists anywhere, and schemas for the others. */
import { spelled, spelledMember } from '../../../../exact-json/src/spelled-numbers.ts';
import { isSchema, resolvePointer } from './schema-types.ts';

export type SchemaOption = { readonly value: unknown } | { readonly schema: unknown };

const MAX_HOPS = 32;

/** The options admit at least what the schema admits; they may admit more. */
export function schemaOptions(schema: unknown, root: unknown, hops = 0): readonly SchemaOption[] {
  if (!isSchema(schema) || hops > MAX_HOPS) return [{ schema }];
  const nullable: readonly SchemaOption[] = schema['nullable'] === true ? [{ value: null }] : [];
  if ('const' in schema) return [{ value: spelledMember(schema, 'const') }, ...nullable];
  const { enum: values, $ref, allOf } = schema;
  if (Array.isArray(values))
    return [...(spelled(values) as unknown[]).map((value) => ({ value })), ...nullable];
  const inside = (each: unknown): readonly SchemaOption[] => schemaOptions(each, root, hops + 1);
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    const branches = schema[keyword];
    if (!Array.isArray(branches) || branches.length === 0) continue;
    const { [keyword]: _, ...rest } = schema;
    const all = branches
      .flatMap(inside)
      .map((option) => ('value' in option ? option : combined(rest, option)));
    return [...all, ...nullable];
  }
  const needed = [
    ...(typeof $ref === 'string' ? [resolvePointer($ref, root) ?? resolvePointer($ref, schema)] : []),
    ...(Array.isArray(allOf) ? allOf : []),
  ];
  const lists = needed.map(inside).filter((options) => options.every((option) => 'value' in option));
  const [shortest] = lists.toSorted((one, other) => one.length - other.length);
  if (shortest !== undefined) return [...shortest, ...nullable];
  const [only, ...others] = needed;
  if (only !== undefined && others.length === 0) return [...inside(only), ...nullable];
  return [{ schema }, ...nullable];
}

const WORDS = new Set(['title', 'description', 'default', 'examples', 'nullable', 'deprecated', '$comment']);

function combined(rest: object, option: { readonly schema: unknown }): SchemaOption {
  const says = Object.keys(rest).some((keyword) => !WORDS.has(keyword));
  return says ? { schema: { allOf: [option.schema, rest] } } : option;
}
