/** The one error of this package: a schema or a grammar that cannot be enforced, in a sentence for whoever wrote it. */
export class GrammarError extends Error {
  /** The part of the schema, such as `schema.properties.age`, or `grammar`; null: the schemas as a whole. */
  readonly path: string | null;

  constructor(path: string | null, message: string) {
    super(message);
    this.name = 'GrammarError';
    this.path = path;
  }
}
