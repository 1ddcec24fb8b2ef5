/** Typed access to metadata; a value of the wrong type is refused with its key. */
import type { Refuse } from './cursor.ts';
import type { ValueType } from './format.ts';
import type { HeaderValue } from './header.ts';

/** llama.cpp insists on the stored type, even if a float is whole. */
const FRACTIONAL: ReadonlySet<ValueType> = new Set(['f32', 'f64']);

export class Lookup {
  readonly #metadata: ReadonlyMap<string, HeaderValue>;
  readonly refuse: Refuse;

  constructor(metadata: ReadonlyMap<string, HeaderValue>, refuse: Refuse) {
    this.#metadata = metadata;
    this.refuse = refuse;
  }

  entry(key: string): HeaderValue | undefined {
    return this.#metadata.get(key);
  }

  keys(): IterableIterator<string> {
    return this.#metadata.keys();
  }

  text(key: string): string | undefined {
    const entry = this.#metadata.get(key);
    if (!entry) return undefined;
    if (entry.type !== 'string')
      return this.refuse(`${key} is stored as ${entry.type} where a string is required`);
    return typeof entry.value === 'string' ? entry.value : this.refuse(`${key} is ${entry.bytes} bytes long`);
  }

  flag(key: string): boolean | undefined {
    const entry = this.#metadata.get(key);
    if (!entry) return undefined;
    if (entry.type !== 'bool') this.refuse(`${key} is stored as ${entry.type} where bool is required`);
    return Boolean('value' in entry && entry.value);
  }

  /** Must be stored as f32, the only type from which llama.cpp reads fractions. */
  fraction(key: string): number | undefined {
    const entry = this.#metadata.get(key);
    if (!entry) return undefined;
    if (entry.type !== 'f32' || typeof entry.value !== 'number')
      return this.refuse(`${key} is stored as ${entry.type} where f32 is required`);
    return entry.value;
  }

  count(key: string, most: number): number | undefined {
    const entry = this.#metadata.get(key);
    if (!entry) return undefined;
    if (entry.type === 'array' || FRACTIONAL.has(entry.type) || !isWhole(entry.value))
      return this.refuse(`${key} is stored as ${entry.type} where an integer is required`);

    return this.#bounded(key, entry.value, most);
  }

  /** One number, or one per layer, as GGUF allows for head counts and layer widths. */
  perLayer(key: string, layers: number, most: number): readonly number[] | undefined {
    const entry = this.#metadata.get(key);
    if (!entry) return undefined;
    if (entry.type !== 'array') {
      const all = this.count(key, most) ?? 0;
      return Array.from({ length: layers }, () => all);
    }
    if (!entry.items || entry.count < layers || !entry.items.every(isWhole))
      return this.refuse(`${key} must hold one integer for each of the ${layers} layers`);

    return entry.items.slice(0, layers).map((item) => this.#bounded(key, item, most));
  }

  #bounded(key: string, value: number | bigint, most: number): number {
    if (value < 0 || value > most) this.refuse(`${key} is ${value}; 0 to ${most} is accepted`);
    return Number(value);
  }
}

function isWhole(value: unknown): value is number | bigint {
  return typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
}
