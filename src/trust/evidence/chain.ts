/** The chain of records within one boot: each names its predecessor, which exposes gaps. Kept in memory only. */
import { sha256Hex } from '../identity/canonical.ts';

export interface ChainLink {
  readonly seq: number;
  readonly prev_evidence_sha256: string | null;
}

export interface EvidenceChain {
  /** Synchronous, so that two answers can never claim the same position; a failing `build` takes none. */
  append(build: (link: ChainLink) => Buffer): Buffer;
}

export function newEvidenceChain(): EvidenceChain {
  let seq = 0;
  let previous: string | null = null;
  return {
    append(build) {
      const payload = build({ seq, prev_evidence_sha256: previous });
      previous = sha256Hex(payload);
      seq += 1;
      return payload;
    },
  };
}
