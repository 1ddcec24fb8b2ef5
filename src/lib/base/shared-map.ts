interface SharedLimits {
  readonly entries: number;
  readonly size?: number;
}

interface Entry<Value> {
  readonly value: Value;
  readonly owner: string;
  readonly size: number;
}

interface Share<Key> {
  readonly keys: Set<Key>;
  size: number;
}

/**
 * Entries in order of age. The map does not evict: while it exceeds its limits, `excess` returns the oldest entry of
 * the owner that keeps most. An owner within the limit divided by the number of owners loses nothing to the others.
 */
export class SharedMap<Key, Value> {
  readonly #limits: SharedLimits;
  readonly #entries = new Map<Key, Entry<Value>>();
  readonly #shares = new Map<string, Share<Key>>();
  #size = 0;

  constructor(limits: SharedLimits) {
    this.#limits = limits;
  }

  get count(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  set(key: Key, value: Value, { owner, size = 1 }: { readonly owner: string; readonly size?: number }): void {
    this.delete(key);
    this.#entries.set(key, { value, owner, size });
    const share = this.#shares.get(owner) ?? { keys: new Set(), size: 0 };
    this.#shares.set(owner, share);
    share.keys.add(key);
    share.size += size;
    this.#size += size;
  }

  renew(key: Key): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.set(key, entry.value, entry);
  }

  delete(key: Key): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    const { owner, size } = entry;
    const share = this.#shares.get(owner);
    this.#entries.delete(key);
    this.#size -= size;
    if (share === undefined) return;
    share.keys.delete(key);
    share.size -= size;
    if (share.keys.size === 0) this.#shares.delete(owner);
  }

  clear(): void {
    this.#entries.clear();
    this.#shares.clear();
    this.#size = 0;
  }

  *entries(): Generator<[Key, Value], void, undefined> {
    for (const [key, { value }] of this.#entries) yield [key, value];
  }

  excess(): Key | undefined {
    const { entries, size = Infinity } = this.#limits;
    if (this.#entries.size > entries) return this.#oldestOfMost(({ keys }) => keys.size);
    return this.#size > size ? this.#oldestOfMost((share) => share.size) : undefined;
  }

  trim(): void {
    for (let key = this.excess(); key !== undefined; key = this.excess()) this.delete(key);
  }

  #oldestOfMost(weight: (share: Share<Key>) => number): Key | undefined {
    const most = [...this.#shares.values()].reduce((a, b) => (weight(b) > weight(a) ? b : a));
    const [oldest] = most.keys;
    return oldest;
  }
}
