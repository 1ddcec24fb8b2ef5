/**
 * What is taken and answered, held to the schemas of the routes. ajv and fast-json-stringify are loaded when the service
 * listens, and each schema is compiled when it is first needed: together they would delay the first /health by a fifth.
 */
import type { Ajv, ValidateFunction } from '#ajv';
import type { FastifySchemaCompiler, FastifySerializerCompiler } from '#fastify';
import { violation } from './validation.ts';

type Write = (value: unknown) => string;
type Compile = (route: { schema: unknown; method: string; url: string; httpStatus: string }) => Write;

export class LateSchemas {
  #ajv: Ajv | undefined;
  #compile: Compile | undefined;
  #loading: Promise<void> | undefined;

  get areLoaded(): boolean {
    return this.#compile !== undefined;
  }

  /** No request whose route has a schema of what it takes may be looked at before. */
  load(): Promise<void> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  /** Values are never coerced and unknown members never stripped: what is validated is what was sent. */
  readonly validator: FastifySchemaCompiler<unknown> = ({ schema, httpPart }) => {
    let compiled: ValidateFunction | undefined;
    const where = httpPart === 'body' ? 'body' : 'query';
    return (value: unknown) => {
      compiled ??= this.#loaded(this.#ajv).compile(schema as object);
      return compiled(value) ? { value } : { error: violation(compiled.errors, where) };
    };
  };

  /** What is answered before everything is loaded has no member beyond its schema. */
  readonly serializer: FastifySerializerCompiler<unknown> = ({ schema, method, url, httpStatus = '' }) => {
    let write: Write | undefined;
    return (value) => {
      if (!this.areLoaded) return JSON.stringify(value);
      write ??= this.#loaded(this.#compile)({ schema, method, url, httpStatus });
      return write(value);
    };
  };

  async #load(): Promise<void> {
    const [{ Ajv }, { SerializerSelector }] = await Promise.all([
      import('#ajv'),
      import('#fastify/serializer'),
    ]);
    this.#ajv = new Ajv({
      coerceTypes: false,
      removeAdditional: false,
      useDefaults: false,
      allErrors: false,
      strict: false,
      verbose: false,
    });
    this.#compile = SerializerSelector()({}, {});
  }

  #loaded<T>(part: T | undefined): T {
    if (part === undefined) throw new Error('a request came before the schemas were loaded');
    return part;
  }
}
