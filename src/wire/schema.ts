import { type TSchema, Type } from 'typebox';

/**
 * For optional request fields, null means absent. The type is a list (`["integer","null"]`) instead of an anyOf,
 * because a validation error should name one cause, not one per branch.
 */
export function nullable<T>(type: string | readonly string[], options: Record<string, unknown> = {}) {
  return Type.Optional(Type.Unsafe<T | null>({ type: [type, 'null'].flat(), ...options }));
}

export const KeepAlive = Type.Optional(
  Type.Unsafe<string | number | null>({
    type: ['string', 'number', 'null'],
    description:
      'How long the model stays loaded afterwards: "10m", seconds, 0 (unload now), negative (no limit).',
  }),
);

export function orNull<S extends TSchema>(schema: S) {
  return Type.Union([schema, Type.Null()]);
}
