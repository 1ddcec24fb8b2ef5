/** What checking and replaying records may use of this machine. */
export interface Machine {
  /** Of this process; a worker gets a few harmless names of it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where keys and installed models are. */
  readonly home: string;
  /** Threads of a replay when nothing else names them; null: those of the record. */
  readonly numThreads: number | null;
  /** Installs the model that ships under this id, if one does and it is not installed. */
  offerModel?(id: string): Promise<void>;
  /** Says what goes on, for people. */
  note(line: string): void;
}
