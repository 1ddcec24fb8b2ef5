/** Resources of this machine for checking and replaying records. */
export interface Machine {
  /** Environment of this process; a worker gets a few harmless names of it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder of keys and installed models. */
  readonly home: string;
  /** Threads of a replay when nothing else names them; null: those of the record. */
  readonly numThreads: number | null;
  /** Installs the model that ships under this id, if one does and it is not installed. */
  offerModel?(id: string): Promise<void>;
  note(line: string): void;
}
