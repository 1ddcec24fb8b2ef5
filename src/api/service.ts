/**
 * What the use cases of this folder work with. app.ts fills it in; tests may fill it with a scripted engine.
 * Nothing here knows HTTP: handlers pass plain bodies and facts in, and get bodies and iterables back.
 */
import type { Clock } from '../lib/base/clock.ts';
import type { Logger } from '../lib/base/logger.ts';
import type { Engine } from '../engine/ports.ts';
import type { EvidenceIssuer } from '../trust/evidence/issuer.ts';
import type { InstanceKeys } from '../trust/identity/instance.ts';
import type { Metrics } from '../engine/observe/metrics.ts';
import type { Registry } from '../store/registry/registry.ts';

/** Who the process is, fixed at boot; the two hashes are computed beside the first requests and then kept. */
export interface IdentityFacts {
  readonly version: string;
  readonly instanceId: string;
  readonly bootId: string;
  readonly keys: InstanceKeys;
  /** `host:port` that is bound. */
  address(): string;
  serverSourceSha256(): Promise<string>;
  /** Null when no backend is bound. */
  backend(): Promise<BoundBackend | null>;
  /** True while a backend is bound and a worker has not failed to initialise it; never waits. */
  nativeReady(): boolean;
}

export interface BoundBackend {
  readonly sha256: string;
  readonly files: readonly { readonly name: string; readonly sha256: string }[];
}

export interface ServiceOptions {
  readonly allowHashEmbeddings: boolean;
  readonly strictParams: boolean;
  /** The window when neither the request nor the model names one; null: decided from the model. */
  readonly numCtx: number | null;
  readonly numThreads: number | null;
  readonly streamHeadAfterMs: number;
}

export interface Service {
  readonly options: ServiceOptions;
  readonly identity: IdentityFacts;
  readonly registry: Registry;
  readonly engine: Engine;
  readonly metrics: Pick<Metrics, 'contentType' | 'render'>;
  /** Absent where no records are signed. */
  readonly evidence?: EvidenceIssuer;
  readonly draining: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Facts of one request that use cases need beside its body. */
export interface RequestFacts {
  readonly requestId: string;
  /** Fairness is per client; see http/client-key.ts. */
  readonly clientKey: string;
  readonly signal: AbortSignal;
}
