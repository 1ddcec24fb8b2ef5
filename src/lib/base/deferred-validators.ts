/** Compiles a validator on first use, because compiling all of them would delay every start. */
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';

interface Check {
  Check(value: unknown): boolean;
}

export function deferredValidator(schema: TSchema): Check {
  let compiled: Check | undefined;
  return { Check: (value) => (compiled ??= Compile(schema)).Check(value) };
}

export function checksByType(union: { readonly anyOf: readonly object[] }): Map<unknown, Check> {
  return new Map(
    union.anyOf.map((variant) => {
      const literal = Reflect.get(Reflect.get(variant, 'properties'), 'type');
      return [Reflect.get(literal, 'const'), deferredValidator(variant)];
    }),
  );
}
