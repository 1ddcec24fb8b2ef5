import { SharedMap } from './shared-map.ts';

interface RecentLimits {
  readonly entries: number;
  readonly chars: number;
}

const noChars = () => 0;

/** Cache of results by text; evicts the least recently used text of the owner that keeps most. */
export class RecentTexts<Value> {
  readonly #known: SharedMap<string, { readonly made: Value }>;

  readonly #charsIn: (made: Value) => number;

  /** `charsIn`: size of a result that may be longer than its text. */
  constructor({ entries, chars }: RecentLimits, charsIn: (made: Value) => number = noChars) {
    this.#known = new SharedMap({ entries, size: chars });
    this.#charsIn = charsIn;
  }

  get size(): number {
    return this.#known.count;
  }

  get(text: string): Value | undefined {
    this.#known.renew(text);
    return this.#known.get(text)?.made;
  }

  set(text: string, made: Value, owner = ''): void {
    this.#known.set(text, { made }, { owner, size: text.length + this.#charsIn(made) });
    this.#known.trim();
  }

  of(text: string, make: () => Value, owner?: string): Value {
    const known = this.get(text);
    if (known !== undefined) return known;
    const value = make();
    this.set(text, value, owner);
    return value;
  }
}
