/**
 * Signs this boot's records. A caller with an issuer can have an answer signed, but cannot reach the key. It sees
 * only hashes of requests.
 */
import type { Clock } from '../../lib/base/clock.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { readBuildMetadata } from '../identity/backend.ts';
import type { FolderHash } from '../identity/folder-hash.ts';
import type { InstanceIdentity } from '../identity/instance.ts';
import type { SealStatement } from '../identity/sealed.ts';
import type { Envelope } from '../identity/dsse.ts';
import { newEvidenceChain } from './chain.ts';
import { buildEvalCard, type EvalFacts } from './eval-card.ts';
import { type FrozenRequest, freezeRequest } from './freeze.ts';
import {
  type BackendProvenance,
  buildEvidence,
  type Evidence,
  type EvidenceFacts,
  isoSecond,
} from './record.ts';
import type { SigningKey } from './rotation.ts';
import { buildVectorEvidence, type VectorAnswer, type VectorEvidence } from './vector-record.ts';

export type AnswerFacts = Omit<EvidenceFacts, 'identity' | 'chain' | 'server' | 'nowMs'>;

export interface EvidenceIssuer {
  backend(): Promise<BackendProvenance | null>;
  freeze(
    rawBody: Uint8Array,
    parsedBody: Readonly<Record<string, unknown>>,
    asked: Pick<FrozenRequest, 'nonce' | 'route'>,
  ): FrozenRequest;
  issue(facts: AnswerFacts): Promise<Evidence>;
  issueVectors(answer: VectorAnswer): Promise<VectorEvidence>;
  issueCard(facts: EvalFacts): Promise<Envelope>;
}

export function newEvidenceIssuer(options: {
  readonly identity: Pick<InstanceIdentity, 'instanceId' | 'bootId'>;
  readonly version: string;
  readonly clock: Pick<Clock, 'unixMs'>;
  readonly serverSource: Promise<FolderHash>;
  readonly backend: () => Promise<FolderHash | null>;
  readonly sealed?: () => SealStatement | null;
  /** Called for each record, because another process may have replaced the key. */
  readonly signingKey: () => Promise<Pick<SigningKey, 'keys' | 'period'>>;
}): EvidenceIssuer {
  const { identity, version, clock, serverSource, backend, signingKey } = options;
  const chain = newEvidenceChain();
  const workers: number[] = [];
  /** Number of a worker process in this boot, from 1, in the order of their first records. */
  const workerStart = (pid: number): number => {
    if (!workers.includes(pid)) workers.push(pid);
    return workers.indexOf(pid) + 1;
  };
  const signer = async () => {
    // Before the key is read: one that is replaced afterwards was valid then.
    const now = clock.unixMs();
    const { keys, period } = await signingKey();
    if (period.until !== null && isoSecond(now) > period.until)
      throw fail('evidence_unavailable', { reason: INTERRUPTED });
    // The new key signs nothing dated before its hand-over, which may lie a moment ahead.
    const nowMs = period.from === null ? now : Math.max(now, Date.parse(period.from));
    const server = {
      version,
      server_source_sha256: (await serverSource).sha256,
      node_version: process.version,
      platform: `${process.platform}-${process.arch}`,
      ...statedSeal(options.sealed?.() ?? null),
    };
    return { identity: { ...identity, keys }, chain, server, nowMs };
  };
  return {
    backend: async () => {
      const hash = await backend();
      return hash === null ? null : { sha256: hash.sha256, files: hash.files, ...readBuildMetadata(hash) };
    },
    freeze: (rawBody, parsedBody, asked) =>
      freezeRequest(rawBody, parsedBody, { nowMs: clock.unixMs(), ...asked }),
    issue: async (facts) => {
      const frozen = { ...facts.frozen, workerStart: workerStart(facts.frozen.host.pid) };
      return buildEvidence({ ...facts, frozen, ...(await signer()) });
    },
    issueVectors: async (answer) => {
      const facts = { ...answer.facts, workerStart: workerStart(answer.facts.host.pid) };
      return buildVectorEvidence({ ...answer, facts }, await signer());
    },
    issueCard: async (facts) => buildEvalCard(facts, await signer()),
  };
}

const INTERRUPTED = 'a rotation of its key was interrupted; run hearth evidence rotate again';

const statedSeal = (sealed: SealStatement | null) => (sealed === null ? {} : { sealed });
