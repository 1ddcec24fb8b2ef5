/**
 * server/engine/upstream owns remote services: llama-server, vLLM, SGLang, Ollama or Hearth on another machine. This file
 * holds what it shares with the other folders of engine/: upstreams, load reports and targets. A call yields the job
 * events of contract/job-event.ts, like any backend, and fails with one of the codes in failures.ts. It does not know
 * which of several upstreams should take a job.
 */
import type { ModelKind } from '../../../contract/load.ts';
import type { Medium, ModelTarget } from '../ports.ts';
import { nearer, type Privacy } from '../../../contract/settings/privacy.ts';

/** Variants of OpenAI's API; `abilities.ts` lists the features of each. */
export const DIALECTS = ['openai', 'vllm', 'llama-server', 'sglang', 'ollama', 'hearth'] as const;
export type Dialect = (typeof DIALECTS)[number];

/** Milliseconds. */
export interface Deadlines {
  /** Until the connection is open, TLS included. */
  readonly connectMs: number;
  /** From then to the first token, including queueing and prefill there. */
  readonly firstByteMs: number;
  /** Between two pieces of the answer. */
  readonly stallMs: number;
  readonly wholeMs: number;
}

export interface Upstream {
  readonly name: string;
  /** Without a trailing slash, with the path before `/chat/completions`. */
  readonly baseUrl: string;
  readonly dialect: Dialect;
  readonly privacy: Privacy;
  /** Read when needed, so that no object holds it; null: none set. Throws `upstream_key_missing`. */
  readonly key: () => Promise<string | null>;
  /** PEM of its certificate authorities, instead of the system's. */
  readonly ca: () => Promise<string | null>;
  /** Key that must sign its identity, as in `hearth evidence pubkey`; null: not pinned. */
  readonly publicKey: string | null;
  readonly deadlines: Deadlines;
  readonly maxCalls: number;
}

/** Null: not reported. */
export interface UpstreamModel {
  readonly name: string;
  readonly kind: ModelKind;
  /** Tokens. */
  readonly contextLength: number | null;
  /** Null: unknown; the upstream refuses unsupported media itself. */
  readonly media: readonly Medium[] | null;
  readonly embeddingWidth: number | null;
  readonly reasoning: boolean | null;
  /** SHA-256 of the weights, lower-case hex. */
  readonly digest: string | null;
}

export const REMOTE_ENGINE = 'remote';

export interface RemoteSource {
  readonly upstream: Upstream;
  readonly model: UpstreamModel;
}

export interface RemoteTarget extends ModelTarget {
  readonly engine: typeof REMOTE_ENGINE;
  readonly source: RemoteSource;
}

export const POOL_ENGINE = 'pool';

/**
 * One id for several equal models of any engine. No backend runs it: the balancer submits the job again for the
 * target of a member.
 */
export interface PoolTarget extends ModelTarget {
  readonly engine: typeof POOL_ENGINE;
  readonly source: PoolSource;
}

export interface PoolSource {
  readonly members: readonly ModelTarget[];
  readonly equalWeights: boolean;
}

/** Null: not reported, which is not zero. */
export interface LoadFacts {
  /** Includes requests of other clients. */
  readonly running: number | null;
  readonly waiting: number | null;
  readonly capacity: number | null;
  /** Share of its KV cache in use, 0 to 1. */
  readonly kvUse: number | null;
}

/** A probe never makes the upstream compute. */
export type Look =
  | { readonly state: 'ready' | 'busy'; readonly load: LoadFacts }
  | { readonly state: 'down'; readonly reason: string };

export interface UpstreamProbe {
  look(upstream: Upstream, signal: AbortSignal): Promise<Look>;
  /** In the upstream's order; rejects like a call. */
  models(upstream: Upstream, signal: AbortSignal): Promise<readonly UpstreamModel[]>;
}

export function targetPrivacy(target: ModelTarget): Privacy {
  switch (target.engine) {
    case 'local':
    case 'command':
      return 'local';
    case REMOTE_ENGINE:
      return (target as RemoteTarget).source.upstream.privacy;
    case POOL_ENGINE:
      return nearer(...(target as PoolTarget).source.members.map(targetPrivacy));
    default:
      throw new Error(`how far the engine ${target.engine satisfies never} goes is not known`);
  }
}

export function isPool(target: ModelTarget): target is PoolTarget {
  return target.engine === POOL_ENGINE;
}

export function isRemote(target: ModelTarget): target is RemoteTarget {
  return target.engine === REMOTE_ENGINE;
}
