/** What is due first comes out first; of what is due at the same time, what came first. */
export class EventHeap<T> {
  readonly #heap: { readonly at: number; readonly order: number; readonly item: T }[] = [];
  #order = 0;

  push(at: number, item: T): void {
    this.#order += 1;
    this.#heap.push({ at, order: this.#order, item });
    let child = this.#heap.length - 1;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (!this.#isBefore(child, parent)) return;
      this.#swap(child, parent);
      child = parent;
    }
  }

  /** The next one that is due by then, or null. */
  popUntil(at: number): { readonly at: number; readonly item: T } | null {
    const [first] = this.#heap;
    if (first === undefined || first.at > at) return null;
    const last = this.#heap.pop();
    if (last !== undefined && this.#heap.length > 0) {
      this.#heap[0] = last;
      this.#sink();
    }
    return first;
  }

  #sink(): void {
    let parent = 0;
    while (true) {
      const left = 2 * parent + 1;
      const right = left + 1;
      let least = parent;
      if (left < this.#heap.length && this.#isBefore(left, least)) least = left;
      if (right < this.#heap.length && this.#isBefore(right, least)) least = right;
      if (least === parent) return;
      this.#swap(parent, least);
      parent = least;
    }
  }

  #isBefore(a: number, b: number): boolean {
    const [one, other] = [this.#heap[a], this.#heap[b]];
    if (one === undefined || other === undefined) throw new Error('beyond the heap');
    return one.at === other.at ? one.order < other.order : one.at < other.at;
  }

  #swap(a: number, b: number): void {
    const [one, other] = [this.#heap[a], this.#heap[b]];
    if (one === undefined || other === undefined) throw new Error('beyond the heap');
    this.#heap[a] = other;
    this.#heap[b] = one;
  }
}
