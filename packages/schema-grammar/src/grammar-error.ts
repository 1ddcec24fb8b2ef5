/** The one error of this package: a schema or grammar that cannot be enforced, in a sentence for its author. */
export class GrammarError extends Error {
  /** Part of the schema, such as `schema.properties.age`, or `grammar`; null: the schemas together. */
  readonly path: string | null;

  constructor(path: string | null, message: string) {
    super(message);
    this.name = 'GrammarError';
    this.path = path;
  }
}
