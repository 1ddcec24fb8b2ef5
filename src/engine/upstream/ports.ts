/**
 * engine/upstream owns the kind of engine that is a service elsewhere: another machine's llama-server, vLLM, SGLang,
 * Ollama or Hearth. Here is what it shares with the other rooms of engine/: what an upstream is, what it says of its
 * load, and the targets that it serves. A call yields the job events of contract/job-event.ts, as any backend does, and
 * fails with one of the codes in failures.ts. It does not know which of several upstreams should take a job.
 */
import type { ModelKind } from '../../contract/load.ts';
import type { Medium, ModelTarget } from '../ports.ts';
import { nearer, type Privacy } from '../../contract/settings/privacy.ts';

/** Deviations of an upstream's API from OpenAI's; `abilities.ts` has what each can do. */
export const DIALECTS = ['openai', 'vllm', 'llama-server', 'sglang', 'ollama', 'hearth'] as const;
export type Dialect = (typeof DIALECTS)[number];

/** Milliseconds. */
export interface Deadlines {
  /** Until the connection is open, TLS included. */
  readonly connectMs: number;
  /** From then on until the first words of the answer, waiting and prefill there included. */
  readonly firstByteMs: number;
  /** Between two pieces of the answer. */
  readonly stallMs: number;
  /** Of the whole call. */
  readonly wholeMs: number;
}

export interface Upstream {
  readonly name: string;
  /** Without a trailing slash, and with the path before `/chat/completions`. */
  readonly baseUrl: string;
  readonly dialect: Dialect;
  /** Privacy of what is sent there. */
  readonly privacy: Privacy;
  /** Read when needed, so that no object holds it: null if none is set; throws `upstream_key_missing`. */
  readonly key: () => Promise<string | null>;
  /** PEM of the authorities of its certificate, instead of the system's. */
  readonly ca: () => Promise<string | null>;
  /** The key that its identity must be signed with, as in `hearth evidence pubkey`; null: not pinned. */
  readonly publicKey: string | null;
  readonly deadlines: Deadlines;
  /** Calls that run there at the same time at most. */
  readonly maxCalls: number;
}

/** Facts of a model there; null: not reported. */
export interface UpstreamModel {
  readonly name: string;
  readonly kind: ModelKind;
  /** Tokens. */
  readonly contextLength: number | null;
  /** Null: unknown; it refuses the media that it does not take. */
  readonly media: readonly Medium[] | null;
  readonly embeddingWidth: number | null;
  /** Whether it can think on request. */
  readonly reasoning: boolean | null;
  /** SHA-256 of the weights, lower-case hex. */
  readonly digest: string | null;
}

export const REMOTE_ENGINE = 'remote';

export interface RemoteSource {
  readonly upstream: Upstream;
  readonly model: UpstreamModel;
}

/** A model of one upstream. */
export interface RemoteTarget extends ModelTarget {
  readonly engine: typeof REMOTE_ENGINE;
  readonly source: RemoteSource;
}

export const POOL_ENGINE = 'pool';

/**
 * One id for several models that are equal, of any engine. No backend runs it: whoever chooses submits the job again,
 * for the target of a member.
 */
export interface PoolTarget extends ModelTarget {
  readonly engine: typeof POOL_ENGINE;
  readonly source: PoolSource;
}

export interface PoolSource {
  /** In the order that the user gave them; at least one. */
  readonly members: readonly ModelTarget[];
  /** The user states that an answer begun by one may be continued by another. */
  readonly equalWeights: boolean;
}

/** Reported load; null: not reported, which is not zero. */
export interface LoadFacts {
  /** Requests that run there, whoever sent them. */
  readonly running: number | null;
  /** Requests that wait there for room. */
  readonly waiting: number | null;
  /** Requests that it runs at the same time. */
  readonly capacity: number | null;
  /** Share of its KV cache that is in use, 0 to 1. */
  readonly kvUse: number | null;
}

/** Result of one probe, which never makes the upstream compute anything. */
export type Look =
  | { readonly state: 'ready' | 'busy'; readonly load: LoadFacts }
  | { readonly state: 'down'; readonly reason: string };

/** Questions to an upstream outside jobs. */
export interface UpstreamProbe {
  /** Never rejects. */
  look(upstream: Upstream, signal: AbortSignal): Promise<Look>;
  /** The models that it lists, in its order; rejects as a call does. */
  models(upstream: Upstream, signal: AbortSignal): Promise<readonly UpstreamModel[]>;
}

/** Privacy of prompts to a model; of a pool, to the nearest of its members. */
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
