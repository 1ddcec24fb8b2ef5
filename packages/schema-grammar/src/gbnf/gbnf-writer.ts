/**
 * schema-grammar/gbnf owns the notation: writing rules, parsing a client's grammar, and refusing one that would hang
 * or crash its process. It knows nothing of JSON Schema.
 */
import { SchemaBudget } from '../schema/schema-budget.ts';
import { type SchemaPath, unenforceable } from '../schema/schema-walk.ts';

type Spacing = 'compact' | 'spaced';

export interface WriterOptions {
  /** `spaced` allows one space after each colon and comma, as most models write. */
  readonly spacing?: Spacing;
  /** True: the JSON text is the content of a JSON string, so its quotes and backslashes are escaped once more. */
  readonly quoted?: boolean;
  /** Prefix of rule names; separates them from a client's rules. */
  readonly prefix?: string;
  /** Shared by all schemas of one request; by default each grammar gets its own. */
  readonly budget?: SchemaBudget;
  /** True: omits what no grammar can enforce, so the grammar allows more than the schema; otherwise throws. */
  readonly relax?: boolean;
  /** Called for every omitted keyword. */
  readonly leftOut?: (path: SchemaPath, keyword: string) => void;
  /** Called for every keyword that the grammar treats more narrowly than the schema. */
  readonly narrowed?: (path: SchemaPath, keyword: string) => void;
  /** Called with the place that makes a whole schema unusable; with `relax` any value is allowed for it. */
  readonly unusable?: (place: SchemaPath) => void;
}

interface RuleStore {
  readonly rules: Map<string, string>;
  readonly nameOfBody: Map<string, string>;
  readonly prefix: string;
  readonly budget: SchemaBudget;
  readonly relax: boolean;
  readonly leftOut: WriterOptions['leftOut'];
  readonly narrowed: WriterOptions['narrowed'];
  readonly unusable: WriterOptions['unusable'];
  reserved: number;
}

export class GbnfWriter {
  readonly quoted: boolean;
  readonly #space: string;
  readonly #store: RuleStore;
  readonly #shared = new Map<string, string>();

  constructor(options: WriterOptions = {}, store?: RuleStore) {
    this.quoted = options.quoted ?? false;
    this.#space = options.spacing === 'spaced' ? ' " "?' : '';
    this.#store = store ?? {
      rules: new Map(),
      nameOfBody: new Map(),
      prefix: options.prefix ?? 'r',
      budget: options.budget ?? new SchemaBudget(),
      relax: options.relax ?? false,
      leftOut: options.leftOut,
      narrowed: options.narrowed,
      unusable: options.unusable,
      reserved: 0,
    };
  }

  get budget(): SchemaBudget {
    return this.#store.budget;
  }

  get relax(): boolean {
    return this.#store.relax;
  }

  cannot(path: SchemaPath, keyword: string, reason: string): void {
    if (!this.#store.relax) throw unenforceable(path, keyword, reason);
    this.#store.leftOut?.(path, keyword);
  }

  later(path: SchemaPath, keyword: string): void {
    this.#store.leftOut?.(path, keyword);
  }

  narrowed(path: SchemaPath, keyword: string): void {
    this.#store.narrowed?.(path, keyword);
  }

  unusable(place: SchemaPath): void {
    this.#store.unusable?.(place);
  }

  /** A writer with other options for the same grammar. */
  nested(options: Pick<WriterOptions, 'quoted' | 'spacing'>): GbnfWriter {
    return new GbnfWriter(options, this.#store);
  }

  /** Returns the name of a rule with this body; equal bodies share one rule. */
  rule(body: string): string {
    if (this.#store.rules.has(body)) return body;
    const known = this.#store.nameOfBody.get(body);
    if (known !== undefined) return known;
    const name = this.reserve();
    this.define(name, body);
    this.#store.nameOfBody.set(body, name);
    return name;
  }

  /** A rule that many schemas need, built at most once. */
  shared(key: string, build: () => string): string {
    const known = this.#shared.get(key);
    if (known !== undefined) return known;
    const name = build();
    this.#shared.set(key, name);
    return name;
  }

  /** A name that is defined later, for recursive schemas. */
  reserve(): string {
    this.#store.reserved += 1;
    return `${this.#store.prefix}${this.#store.reserved}`;
  }

  define(name: string, body: string): void {
    this.budget.spend('chars', name.length + body.length + 6);
    this.#store.rules.set(name, body);
  }

  /** GBNF for exactly this JSON text. */
  literal(json: string): string {
    return gbnfLiteral(this.quoted ? JSON.stringify(json).slice(1, -1) : json);
  }

  colon(): string {
    return `${this.literal(':')}${this.#space}`;
  }

  comma(): string {
    return `${this.literal(',')}${this.#space}`;
  }

  toGbnf(root: string): string {
    const used = this.#reachable(root);
    const lines = [...this.#store.rules].flatMap(([name, body]) =>
      used.has(name) ? [`${name} ::= ${body}`] : [],
    );
    return [`root ::= ${root}`, ...lines, ''].join('\n');
  }

  /** Drops rules of branches that turned out impossible; some of them are unfinished. */
  #reachable(root: string): ReadonlySet<string> {
    const { rules } = this.#store;
    const used = new Set<string>();
    const todo = [root];
    for (let body = todo.pop(); body !== undefined; body = todo.pop()) {
      for (const [name] of body.replace(QUOTED, ' ').matchAll(RULE_NAME)) {
        if (used.has(name)) continue;
        used.add(name);
        todo.push(rules.get(name) ?? '');
      }
    }
    return used;
  }
}

/** Literals and classes, whose letters are not rule names. */
const QUOTED = /"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]/g;
const RULE_NAME = /[A-Za-z][A-Za-z0-9-]*/g;

/** Quotes any well-formed text as a GBNF string literal. */
export function gbnfLiteral(text: string): string {
  return `"${[...text].map((char) => (char === '"' ? '\\"' : char === '\\' ? '\\\\' : escapeControl(char))).join('')}"`;
}

/** Escapes a character for a GBNF class. */
export function gbnfClassChar(codePoint: number): string {
  const char = String.fromCodePoint(codePoint);
  if (/[A-Za-z0-9_ ]/.test(char)) return char;
  return `\\U${codePoint.toString(16).toUpperCase().padStart(8, '0')}`;
}

function escapeControl(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  if (code >= 0x20 && code !== 0x7f) return char;
  return `\\x${code.toString(16).toUpperCase().padStart(2, '0')}`;
}

/** Block of a counted repetition; llama.cpp copies counted symbols and refuses 2000 copies. */
const BLOCK = 50;
/** Limit of copies in `repeat`; callers leave larger limits to the check of the answer. */
export const MAX_COUNTED = 20_000;

/** Repeats `symbol` (a rule name) min to max times; max null: unlimited. */
export function repeat(writer: GbnfWriter, symbol: string, min: number, max: number | null): string {
  const head = exactly(writer, symbol, min);
  if (max === null) return join(head, `${symbol}*`);
  return join(head, upTo(writer, symbol, max - min));
}

function exactly(writer: GbnfWriter, symbol: string, count: number): string {
  if (count === 0) return '';
  if (count < 2 * BLOCK) return `${symbol}{${count}}`;
  const block = writer.rule(`${symbol}{${BLOCK}}`);
  return join(`${block}{${Math.floor(count / BLOCK)}}`, exactly(writer, symbol, count % BLOCK));
}

/** Blocks keep the number of live parser stacks small: at any point at most one block and one tail are open. */
function upTo(writer: GbnfWriter, symbol: string, count: number): string {
  if (count === 0) return '';
  if (count < 2 * BLOCK) return `${symbol}{0,${count}}`;
  const block = writer.rule(`${symbol}{${BLOCK}}`);
  const blocks = Math.floor(count / BLOCK);
  const partial = `${block}{0,${blocks - 1}} ${symbol}{0,${BLOCK - 1}}`;
  return `(${partial} | ${join(`${block}{${blocks}}`, upTo(writer, symbol, count % BLOCK))})`;
}

function join(...parts: string[]): string {
  return parts.filter((part) => part !== '').join(' ');
}
