/** Source of the drafts of a stream: what its own text suggests, else what a smaller model says. */

export interface DraftSource {
  /** Whether a draft is available; then it can have any length. */
  readonly hasDraft: boolean;
  /** The share of recent drafts that were right. */
  readonly hitRate: number;
  /** Cost of one more drafted token, milliseconds. */
  readonly msPerToken: number;
  push(token: number): void;
  /** The expected next tokens: as many as requested, or none. */
  draft(count: number): number[];
}

/** Looking up the text of a stream is free, so it comes first. */
export class FirstOf implements DraftSource {
  readonly #sources: readonly DraftSource[];

  constructor(sources: readonly DraftSource[]) {
    this.#sources = sources;
  }

  get hasDraft(): boolean {
    return this.#sources.some((source) => source.hasDraft);
  }

  get hitRate(): number {
    return this.#first?.hitRate ?? 0;
  }

  get msPerToken(): number {
    return this.#first?.msPerToken ?? 0;
  }

  push(token: number): void {
    for (const source of this.#sources) source.push(token);
  }

  draft(count: number): number[] {
    return this.#first?.draft(count) ?? [];
  }

  get #first(): DraftSource | undefined {
    return this.#sources.find((source) => source.hasDraft);
  }
}
