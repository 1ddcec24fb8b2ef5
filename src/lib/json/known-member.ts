/**
 * Values of one member that documents have in common, such as the tools that an agent sends with every turn: bytes that
 * were read before are compared and not read again. A value is frozen, because every document that has it shares it.
 */
export interface KnownValue {
  readonly bytes: Buffer;
  readonly value: unknown;
  /** Values in it, itself included. */
  readonly tokens: number;
}

interface KnownLimits {
  readonly entries: number;
  /** Bytes of all values together. */
  readonly bytes: number;
  /** Shorter values are parsed as fast as compared. */
  readonly leastBytes: number;
  /** Values in one of them; more would take too long to freeze at once. */
  readonly tokens: number;
}

const BRACKETS: readonly unknown[] = [...Buffer.from('[{')];

export class KnownMember {
  readonly name: string;
  readonly #limits: KnownLimits;
  /** The least recently used first. */
  #known: readonly KnownValue[] = [];

  constructor(name: string, limits: KnownLimits) {
    this.name = name;
    this.#limits = limits;
  }

  /** The known value at that place of the document. */
  at(document: Buffer, start: number): KnownValue | undefined {
    const found = this.#known.find(({ bytes }) => {
      const end = start + bytes.length;
      return end <= document.length && bytes.compare(document, start, end) === 0;
    });
    if (found !== undefined) this.#known = [...this.#known.filter((known) => known !== found), found];
    return found;
  }

  /** Keeps a value parsed from these bytes, if it ends at its own bracket. */
  remember(bytes: Buffer, value: unknown, tokens: number): void {
    const { entries, bytes: room, leastBytes, tokens: most } = this.#limits;
    if (bytes.length < leastBytes || bytes.length > room || tokens > most || !BRACKETS.includes(bytes[0]))
      return;
    // Documents parsed at the same time bring the same value twice.
    if (this.at(bytes, 0) !== undefined) return;
    // The document would be kept with a part of its memory.
    this.#known = [...this.#known, { bytes: Buffer.from(bytes), value: frozen(value), tokens }];
    const size = (): number => this.#known.reduce((sum, known) => sum + known.bytes.length, 0);
    while (this.#known.length > entries || size() > room) this.#known = this.#known.slice(1);
  }
}

/** As deep as the reader lets documents be. */
function frozen(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  for (const member of Object.values(value)) frozen(member);
  return Object.freeze(value);
}
