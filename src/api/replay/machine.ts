export interface Machine {
  /** A worker inherits only a few harmless variables of it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** Null: the record's number of threads. */
  readonly numThreads: number | null;
  /** Installs the model that ships under this id, unless it is installed. */
  offerModel?(id: string): Promise<void>;
  note(line: string): void;
}
