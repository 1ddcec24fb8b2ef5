/**
 * server/api owns what the service can do, one use case per folder or file, each over the two or three ports that it names.
 * It knows nothing of HTTP, the command line or settings. This file passes the ports to every use case and returns
 * the result to http/.
 */
import type { Clock } from '../../lib/base/clock.ts';
import type { Engine, UpstreamStatus } from '../engine/ports.ts';
import type { VolatileTreatment } from '../../lib/prompt-cache/volatile-lines.ts';
import type { EvidenceIssuer } from '../../trust/evidence/issuer.ts';
import type { CompletionRequest } from '../../wire/inference/completions.ts';
import type { DecisionRequest } from '../../wire/inference/decisions.ts';
import type { EmbeddingRequest } from '../../wire/inference/embeddings.ts';
import type {
  DetokenizeRequest,
  DetokenizeResponse,
  TokenizeRequest,
  TokenizeResponse,
} from '../../wire/inference/tokens.ts';
import type { RerankRequest } from '../../wire/inference/rerank.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { type HealthResponse, DRAINING, type Readiness } from '../../wire/health.ts';
import type { Identity } from '../../wire/identity.ts';
import type { ModelEntry, ModelList } from '../../wire/models.ts';
import type { CacheReport } from '../../wire/prompt-cache.ts';
import type { ResidencyList } from '../../wire/residency.ts';
import { imageFetcher } from '../../store/hub/fetch-image.ts';
import type { JobStops } from './access/job-stops.ts';
import type { KeyUse } from './access/key-holder.ts';
import type { BatchUseCases } from './batches/batches.ts';
import type { Caller } from './caller.ts';
import type { SummaryBook } from './chat/compaction/summary.ts';
import { type ChatUseCases, chatUseCases } from './dialects/chat-completions/chat-completions.ts';
import { createAnswerIds } from './dialects/chat-completions/whole-answer.ts';
import type { AcceptedRequest } from './chat/accepted-request.ts';
import { acceptCompletion } from './completion/completions.ts';
import { llamaServerUseCases, type LlamaServerUseCases } from './dialects/llama-server/llama-server.ts';
import { messagesUseCases, type MessagesUseCases } from './dialects/messages/messages.ts';
import type { ResponseKeeper } from './dialects/responses/kept.ts';
import { responsesUseCases, type ResponsesUseCases } from './dialects/responses/responses.ts';
import { decide, type DecisionOutcome } from './decisions.ts';
import { embed, type EmbeddingAnswer, embedProved, type ProvedEmbedding } from './embedding/embeddings.ts';
import type { EngineFeed } from './events/engine-feed.ts';
import type { FrozenInput } from './generation/frozen.ts';
import { ollamaUseCases, type OllamaUseCases } from './dialects/ollama/ollama.ts';
import { identity, type IdentityPorts, PRODUCT_NAME } from './identity.ts';
import type { LibraryUseCases } from './library.ts';
import { listModels, showModel } from './models/models.ts';
import type { Models } from './models/served-model.ts';
import { CacheLog } from './cache-log.ts';
import { PinUseCases } from './pins.ts';
import { httpArchive } from './requests/har.ts';
import type { RequestRecorder } from './requests/recorder.ts';
import { rerank, type RerankAnswer } from './rerank.ts';
import { detokenize, tokenize, type VocabularyAnswer } from './vocabulary.ts';
import { listResidencies, type MeasuredSpeed, unloadModel } from './residency.ts';

export interface UseCases {
  readonly chat: ChatUseCases;
  readonly messages: MessagesUseCases;
  readonly responses: ResponsesUseCases;
  readonly llamaServer: LlamaServerUseCases;
  completion(body: CompletionRequest, caller: Caller): Promise<AcceptedRequest>;
  embedding(body: EmbeddingRequest, caller: Caller): Promise<EmbeddingAnswer>;
  provedEmbedding(body: EmbeddingRequest, caller: Caller, input: FrozenInput): Promise<ProvedEmbedding>;
  rerank(body: RerankRequest, caller: Caller): Promise<RerankAnswer>;
  decide(body: DecisionRequest, caller: Caller): Promise<DecisionOutcome>;
  tokenize(body: TokenizeRequest, caller: Caller): Promise<VocabularyAnswer<TokenizeResponse>>;
  detokenize(body: DetokenizeRequest, caller: Caller): Promise<VocabularyAnswer<DetokenizeResponse>>;
  readonly models: { list(): Promise<ModelList>; show(name: string): Promise<ModelEntry> };
  readonly residency: {
    list(): ResidencyList;
    unload(name: string): Promise<{ model: string; unloaded: boolean }>;
  };
  stopJob(jobId: string): { job: string; stopped: boolean };
  cacheReport(requestId: string, owner: string): CacheReport;
  readonly pins: PinUseCases;
  readonly ollama: OllamaUseCases;
  readonly batches: BatchUseCases | null;
  keyUses(): readonly KeyUse[];
  readonly library: LibraryUseCases;
  readonly requests: Pick<RequestRecorder, 'list' | 'find'> & { archive(): object };
  readonly events: Pick<EngineFeed, 'state' | 'follow'>;
  readonly queueFull: Engine['queueFull'];
  identity(nonce: string | undefined): Promise<Identity>;
  health(): HealthResponse;
  ready(): Promise<Readiness>;
}

export interface Parts extends HealthPorts, ReadyPorts, Omit<IdentityPorts, 'models'> {
  readonly home: string;
  readonly models: Models;
  readonly engine: Omit<Engine, 'drain'>;
  readonly stops: Pick<JobStops, 'stop'>;
  readonly summaries: SummaryBook;
  readonly evidence: EvidenceIssuer | null;
  readonly upstreams?: () => readonly UpstreamStatus[];
  readonly responses: ResponseKeeper | null;
  readonly batches: BatchUseCases | null;
  readonly events: UseCases['events'];
  readonly keyUses: () => readonly KeyUse[];
  readonly library: LibraryUseCases;
  readonly recorder: Pick<RequestRecorder, 'list' | 'find' | 'details' | 'requestId'>;
  readonly clock: Pick<Clock, 'unixMs'>;
  /** Tokens per second of a model's latest answer; null: none yet. */
  readonly measuredSpeed?: MeasuredSpeed;
  readonly options: {
    readonly allowHashEmbeddings: boolean;
    readonly strictParams: boolean;
    readonly unknownModelIsDefault: boolean;
    readonly volatileLines: VolatileTreatment;
    readonly fetchImages?: boolean;
    readonly hubHosts?: readonly string[];
    readonly sealed?: boolean;
  };
}

export function createUseCases(parts: Parts): UseCases {
  const { models, engine, clock, evidence, backendSha256, options, measuredSpeed } = parts;
  const { fetchImages = false, sealed = false, hubHosts = [] } = options;
  const cacheLog = new CacheLog(clock);
  const generation = {
    models,
    engine,
    clock,
    backendSha256,
    strictParams: options.strictParams,
    unknownModelIsDefault: options.unknownModelIsDefault,
    volatileLines: options.volatileLines,
    cacheLog,
    images: fetchImages && !sealed ? imageFetcher({ trustedHosts: hubHosts }) : null,
    summaries: parts.summaries,
  };
  return {
    chat: chatUseCases({ ...generation, evidence, answerId: createAnswerIds() }),
    llamaServer: llamaServerUseCases(generation),
    messages: messagesUseCases(generation),
    responses: responsesUseCases(generation, parts.responses),
    completion: (body, caller) => acceptCompletion({ ...generation, evidence }, body, caller),
    embedding: (body, caller) => embed({ models, engine, options }, body, caller),
    decide: (body, caller) => decide(generation, body, caller),
    provedEmbedding: (body, caller, input) =>
      embedProved({ models, engine, options, evidence }, body, { caller, input }),
    rerank: (body, caller) => rerank({ models, engine, options }, body, caller),
    tokenize: (body, caller) => tokenize(generation, body, caller),
    detokenize: (body, caller) => detokenize(generation, body, caller),
    models: { list: () => listModels(models), show: (name) => showModel(models, name) },
    residency: {
      list: () => listResidencies(engine, measuredSpeed, parts.upstreams),
      unload: (name) => unloadModel({ models, engine }, name),
    },
    stopJob: (job) => ({ job, stopped: parts.stops.stop(job) }),
    cacheReport: (asked, owner) => cacheLog.why(owner, parts.recorder.requestId(asked)),
    pins: new PinUseCases({ home: parts.home, models, engine, clock }),
    ollama: ollamaUseCases({
      models,
      chat: generation,
      embedding: { models, engine, options },
      residencies: () => listResidencies(engine),
    }),
    batches: parts.batches,
    events: parts.events,
    keyUses: parts.keyUses,
    library: parts.library,
    requests: requestUseCases(parts),
    queueFull: (client) => engine.queueFull(client),
    identity: (nonce) => identity(parts, nonce),
    health: () => health(parts),
    ready: () => ready(parts),
  };
}

function requestUseCases({ recorder, process }: Pick<Parts, 'recorder' | 'process'>): UseCases['requests'] {
  return {
    list: (after) => recorder.list(after),
    find: (id) => recorder.find(id),
    archive: () => httpArchive(recorder.details(), { name: PRODUCT_NAME, version: process.version }),
  };
}

interface ReadyPorts extends HealthPorts, Pick<IdentityPorts, 'listUpstreams'> {
  readonly isOpen: () => boolean;
}

async function ready({ isDraining, isOpen, isNativeReady, listUpstreams }: ReadyPorts): Promise<Readiness> {
  if (isDraining()) throw fail('draining');
  if (!isOpen()) throw fail('starting');
  if (isNativeReady() || (await listUpstreams?.())?.length) return { status: 'ready' };
  throw fail('native_unavailable', { reason: 'no library of llama.cpp that works, and no upstream' });
}

interface HealthPorts {
  readonly isDraining: () => boolean;
  readonly isNativeReady: () => boolean;
}

/** Must stay cheap: loads nothing, hashes nothing, keeps nothing loaded. */
function health({ isDraining, isNativeReady }: HealthPorts): HealthResponse {
  return {
    status: isDraining() ? DRAINING : 'ok',
    product: PRODUCT_NAME,
    native_ready: isNativeReady(),
  };
}
