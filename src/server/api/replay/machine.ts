export interface Machine {
  /** A worker inherits only a few harmless variables of it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly numThreads: number | null;
  offerModel?(id: string): Promise<void>;
  note(line: string): void;
}
