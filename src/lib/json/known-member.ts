/**
 * Caches the value of a member that documents have in common, such as the tools that an agent sends with every turn:
 * equal bytes are compared and not parsed again. Values are frozen, because documents share them.
 */
export interface KnownValue {
  readonly bytes: Buffer;
  readonly value: unknown;
  readonly tokens: number;
}

interface KnownLimits {
  readonly entries: number;
  readonly bytes: number;
  /** Chosen: shorter values are parsed as fast as compared. */
  readonly leastBytes: number;
  /** Limit per cached value; freezing more at once would take too long. */
  readonly tokens: number;
}

const BRACKETS: readonly unknown[] = [...Buffer.from('[{')];

export class KnownMember {
  readonly name: string;
  readonly #limits: KnownLimits;
  #known: readonly KnownValue[] = [];

  constructor(name: string, limits: KnownLimits) {
    this.name = name;
    this.#limits = limits;
  }

  at(document: Buffer, start: number): KnownValue | undefined {
    const found = this.#known.find(({ bytes }) => {
      const end = start + bytes.length;
      return end <= document.length && bytes.compare(document, start, end) === 0;
    });
    if (found !== undefined) this.#known = [...this.#known.filter((known) => known !== found), found];
    return found;
  }

  remember(bytes: Buffer, value: unknown, tokens: number): void {
    const { entries, bytes: room, leastBytes, tokens: most } = this.#limits;
    if (bytes.length < leastBytes || bytes.length > room || tokens > most || !BRACKETS.includes(bytes[0]))
      return;
    // Documents parsed concurrently can bring the same value.
    if (this.at(bytes, 0) !== undefined) return;
    // Copied, because a slice would keep the whole document in memory.
    this.#known = [...this.#known, { bytes: Buffer.from(bytes), value: frozen(value), tokens }];
    const size = (): number => this.#known.reduce((sum, known) => sum + known.bytes.length, 0);
    while (this.#known.length > entries || size() > room) this.#known = this.#known.slice(1);
  }
}

/** Recursion is bounded by the depth limit of documents. */
function frozen(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  for (const member of Object.values(value)) frozen(member);
  return Object.freeze(value);
}
