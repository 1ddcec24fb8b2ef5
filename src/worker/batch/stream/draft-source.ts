export interface DraftSource {
  readonly hasDraft: boolean;
  readonly hitRate: number;
  readonly msPerToken: number;
  push(token: number): void;
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
