const places = new WeakMap<object, string>();

export function placeSchema<T extends object>(schema: T, path: string): T {
  places.set(schema, path);
  return schema;
}

export function schemaPlace(schema: object): string {
  return places.get(schema) ?? 'schema';
}
