/** One damaged file, by name. */
export interface BrokenGguf {
  /** Number of the mutation in the security notes; several variants share one. */
  readonly mutation: number;
  readonly name: string;
  readonly bytes: () => Buffer;
  /** The damage is in the weights, so that only a trial load can find it. */
  readonly passesGate?: true;
}
