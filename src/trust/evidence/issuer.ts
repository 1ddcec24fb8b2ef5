/** Who signs in this boot: the chain of its records, and what does not change from one record to the next. */
import { readBuildMetadata } from '../identity/backend.ts';
import type { FolderHash } from '../identity/folder-hash.ts';
import type { InstanceIdentity } from '../identity/instance.ts';
import { type EvidenceChain, newEvidenceChain } from './chain.ts';
import type { BackendProvenance } from './record.ts';
import type { Predicate } from './statement.ts';

export interface EvidenceIssuer {
  readonly identity: InstanceIdentity;
  readonly chain: EvidenceChain;
  readonly server: () => Promise<Predicate['server']>;
  /** Null when no backend is bound. */
  readonly backend: () => Promise<BackendProvenance | null>;
  /** Which worker of this boot a process is, counted from 1 in the order of their first records. */
  workerStart(pid: number): number;
}

export function newEvidenceIssuer(options: {
  readonly identity: InstanceIdentity;
  readonly version: string;
  readonly serverSource: Promise<FolderHash>;
  readonly backend: () => Promise<FolderHash | null>;
}): EvidenceIssuer {
  const { identity, version, serverSource, backend } = options;
  const workers: number[] = [];
  return {
    identity,
    chain: newEvidenceChain(),
    server: async () => ({
      version,
      server_source_sha256: (await serverSource).sha256,
      node_version: process.version,
      platform: `${process.platform}-${process.arch}`,
    }),
    backend: async () => {
      const hash = await backend();
      return hash === null ? null : { sha256: hash.sha256, files: hash.files, ...readBuildMetadata(hash) };
    },
    workerStart: (pid) => {
      if (!workers.includes(pid)) workers.push(pid);
      return workers.indexOf(pid) + 1;
    },
  };
}
