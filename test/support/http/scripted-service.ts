/**
 * The service without a model: the real HTTP edge, router and registry on a loopback socket, over a scripted engine.
 * One per test file, started before its tests and closed after them.
 */
import { targetPrivacy } from '../../../src/server/engine/upstream/ports.ts';
import { copyFile, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { settings } from '../../../src/config/settings.ts';
import type { VolatileTreatment } from '../../../src/lib/prompt-cache/volatile-lines.ts';
import { type Clock, systemClock } from '../../../src/lib/base/clock.ts';
import { JobBoard } from '../../../src/server/engine/observe/job-board.ts';
import { createMetrics } from '../../../src/server/engine/observe/metrics.ts';
import type { ErrorShape } from '../../../src/server/http/error-shape.ts';
import type { Address } from '../../../src/server/http/listen/listen.ts';
import { batchEdge } from '../../../src/server/http/batch-edge.ts';
import { rightsOfOwner } from '../../../src/server/http/guard/guard.ts';
import { createHttpServer, type HttpOptions, listen } from '../../../src/server/http/server.ts';
import { loadIdentity } from '../../../src/trust/identity/instance.ts';
import { registerBuiltin } from '../../../src/store/install/builtin.ts';
import { importFile } from '../../../src/store/install/import.ts';
import { BATCH_LIMITS, type BatchLimits } from '../../../src/store/batches/limits.ts';
import { ResponseStore } from '../../../src/store/responses/response-store.ts';
import { openRegistry, type Registry } from '../../../src/store/registry/registry.ts';
import { ApiKeyStore } from '../../../src/server/api/access/api-key-store.ts';
import { BatchUseCases } from '../../../src/server/api/batches/batches.ts';
import { servedPassport } from '../../../src/server/api/passport/served-passport.ts';
import { LibraryUseCases } from '../../../src/server/api/library.ts';
import { installedModels } from '../../../src/server/api/models/installed-models.ts';
import type { Models } from '../../../src/server/api/models/served-model.ts';
import { admission } from '../../../src/server/api/access/admission.ts';
import { createJobStops } from '../../../src/server/api/access/job-stops.ts';
import { answerChecks } from '../../../src/server/api/chat/checked-jobs.ts';
import { compaction } from '../../../src/server/api/chat/compaction/compaction.ts';
import { SummaryBook } from '../../../src/server/api/chat/compaction/summary.ts';
import type { Engine, UpstreamStatus } from '../../../src/server/engine/ports.ts';
import { stagedEngine } from '../../../src/server/engine/stages.ts';
import { EngineFeed } from '../../../src/server/api/events/engine-feed.ts';
import { type RecordMode, RequestRecorder } from '../../../src/server/api/requests/recorder.ts';
import { createUseCases } from '../../../src/server/api/use-cases.ts';
import { signIdentity } from '../../../src/trust/identity/sign-identity.ts';
import type { Tracing } from '../../../src/server/tracing.ts';
import { HttpClient } from './http-client.ts';
import { tinyModels } from '../tiny-models.ts';
import { ScriptedEngine } from './scripted-engine.ts';
import { removeFolder } from '../remove-folder.ts';

export interface ScriptedOptions {
  readonly apiKey?: string;
  readonly ownHosts?: readonly string[];
  /** As if it listened on another address than loopback. */
  readonly needsKey?: boolean;
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
  readonly allowLocalPages?: boolean;
  readonly allowHashEmbeddings?: boolean;
  readonly strictParams?: boolean;
  readonly storeResponses?: boolean;
  readonly batchLimits?: Partial<BatchLimits>;
  /** Of an earlier service whose files are kept; absent: a fresh one. */
  readonly home?: string;
  readonly unknownModelIsDefault?: boolean;
  readonly volatileLines?: VolatileTreatment;
  readonly fetchImages?: boolean;
  readonly hubHosts?: readonly string[];
  readonly streamHeadAfterMs?: number;
  readonly errorShape?: 'auto' | ErrorShape;
  /** Besides a free port of the loopback address without TLS. */
  readonly address?: Partial<Pick<Address, 'socket' | 'tls'>>;
  readonly maxBodyBytes?: number;
  readonly clock?: Clock;
  readonly record?: RecordMode;
  readonly tracing?: Tracing | null;
  /** Instead of the registry and the scripted engine. */
  readonly over?: {
    readonly models: Models;
    readonly engine: Engine;
    readonly board?: JobBoard;
    readonly upstreams?: () => readonly UpstreamStatus[];
  };
  /** False: an empty registry. */
  readonly models?: boolean;
  /** False: no backend is bound. */
  readonly nativeReady?: boolean;
}

export interface ScriptedService {
  readonly url: string;
  readonly port: number;
  readonly client: HttpClient;
  readonly engine: ScriptedEngine;
  /** Where its files are. */
  readonly home: string;
  readonly app: FastifyInstance;
  /** What the state of the engine lists. */
  readonly board: JobBoard;
  readonly registry: Registry;
  readonly bootId: string;
  readonly instanceId: string;
  /** Everything that was logged so far, as it is written. */
  log(): string;
  setDraining(draining: boolean): void;
  setOpen(open: boolean): void;
  /** Each request to end, and whether it was to end at once. */
  readonly quits: readonly boolean[];
  close(how?: { readonly keepsHome: boolean }): Promise<void>;
}

/** The ids that the registry holds: a built-in chat model, one with slash and tag, and an embedding model. */
export const installed = {
  chat: 'tiny-chat',
  slashed: 'acme/tiny-chat:q4',
  embedding: 'tiny-embed',
} as const;
/** What the service gives its page. */
export const PAGE_TOKEN = 'the-token-of-the-page';
export const sourceSha256 = 'a'.repeat(64);
export const backendSha256 = 'b'.repeat(64);

/** Serves for the tests of one file. The members are there once the tests run. */
export function scriptedService(options: ScriptedOptions = {}): ScriptedService {
  const service = {} as ScriptedService;
  beforeAll(async () => {
    Object.assign(service, await startScripted(options));
  });
  afterEach(() => {
    expect(service.engine.invalidJobs.splice(0), 'jobs outside the ranges of the engine').toEqual([]);
  });
  // Absent when the start itself failed, which is the error to show.
  afterAll(() => service.close?.());
  return service;
}

export async function startScripted(options: ScriptedOptions = {}): Promise<ScriptedService> {
  const home = options.home ?? (await mkdtemp(path.join(tmpdir(), 'hearth-scripted-')));
  const registry = openRegistry({ home });
  if (options.models !== false && options.home === undefined) await installModels(home, registry);
  const identity = await loadIdentity({ home });
  const engine = new ScriptedEngine();
  const lines: string[] = [];
  const logger = pino({ level: 'trace' }, keepingStream(lines));
  let draining = false;
  let open = true;
  const isReady = options.nativeReady !== false;
  const clock = options.clock ?? systemClock;
  const process = { version: '9.8.7', instanceId: identity.instanceId, bootId: identity.bootId };
  const keys = await ApiKeyStore.open({
    home,
    clock,
    log: logger,
    isLocal: (target) => targetPrivacy(target) === 'local',
  });
  const recorder = new RequestRecorder({ mode: options.record ?? 'on', textForMs: 60_000, clock });
  const upstreams = options.over?.upstreams ?? (() => []);
  const board = options.over?.board ?? new JobBoard(clock);
  const feed = new EngineFeed({
    upstreams,
    gpu: () => null,
    engine: options.over?.engine ?? engine,
    board,
    devices: () => [{ device: 'CPU', totalBytes: 2 ** 34, freeBytes: 2 ** 33, reserveBytes: 2 ** 28 }],
    recorder,
    clock,
    bootId: identity.bootId,
  });
  const models = options.over?.models ?? installedModels(registry);
  const responses = options.storeResponses === false ? null : new ResponseStore(home, clock);
  const access = {
    apiKey: options.apiKey ?? null,
    ownHosts: () => options.ownHosts ?? [],
    needsKey: options.needsKey === true,
    allowedHosts: options.allowedHosts ?? [],
    allowedOrigins: options.allowedOrigins ?? [],
    allowLocalPages: options.allowLocalPages === true,
    allowDockerHost: false,
  };
  const maxBodyBytes = options.maxBodyBytes ?? 8 * 1024 * 1024;
  const batches = new BatchUseCases({
    home,
    clock,
    log: logger,
    limits: { ...BATCH_LIMITS, ...options.batchLimits },
    findRights: async (owner) => {
      await keys.refresh();
      const rights = rightsOfOwner(access, keys, owner);
      return rights && { gate: rights.holder ?? undefined, name: 'batch' };
    },
  });
  const summaries = new SummaryBook();
  const stops = createJobStops();
  const stages = [compaction(summaries), answerChecks, admission, stops];
  const useCases = createUseCases({
    home,
    upstreams,
    models,
    engine: stagedEngine(options.over?.engine ?? engine, stages),
    stops,
    summaries,
    evidence: null,
    sealed: () => null,
    responses,
    batches,
    events: feed,
    recorder,
    keyUses: () => keys.uses(),
    library: new LibraryUseCases({
      log: logger,
      registry,
      models,
      engine: options.over?.engine ?? engine,
      hub: { env: { HF_HUB_OFFLINE: '1' }, hubHosts: [], sealed: false },
      foreign: { env: {}, userHome: home, platform: 'linux' },
      probe: async () => {},
      signatures: undefined,
      signed: async () => null,
      measured: async () => null,
      passport: (model) =>
        servedPassport(model, { home, registry, signers: [], version: '9.8.7', ask: async () => null }),
      askFormat: async () => null,
      builtins: { missing: async () => ['shipped'], restore: async () => {} },
    }),
    clock,
    process,
    isDraining: () => draining,
    isOpen: () => open,
    isNativeReady: () => isReady,
    serverSourceSha256: async () => sourceSha256,
    backendSha256: async () => (isReady ? backendSha256 : null),
    sign: async (body, nonce) => signIdentity(body, nonce, identity, '127.0.0.1:1'),
    options: {
      allowHashEmbeddings: options.allowHashEmbeddings === true,
      strictParams: options.strictParams === true,
      unknownModelIsDefault: options.unknownModelIsDefault === true,
      volatileLines: options.volatileLines ?? settings.volatileLines.fallback,
      fetchImages: options.fetchImages === true,
      hubHosts: options.hubHosts ?? [],
    },
  });
  const quits: boolean[] = [];
  const httpOptions: HttpOptions = {
    process,
    access,
    pageToken: PAGE_TOKEN,
    pageConnect: [],
    keys,
    maxBodyBytes,
    streamHeadAfterMs: options.streamHeadAfterMs ?? 3000,
    errorShape: options.errorShape ?? settings.errorShape.fallback,
    strictParams: options.strictParams === true,
    clock,
    logger,
    metrics: createMetrics({
      clock: systemClock,
      version: '9.8.7',
      residencies: () => [],
      upstreams,
      keys: () => keys.uses(),
    }),
    recorder,
    tracing: options.tracing ?? null,
    opened: Promise.resolve(),
    isDraining: () => draining,
    quit: (now) => quits.push(now),
  };
  const app = await createHttpServer(useCases, httpOptions);
  const address = { host: '127.0.0.1', port: 0, socket: null, tls: null, ...options.address };
  const bound = await listen(app, httpOptions, address);
  const { port } = bound;
  const url = `http://127.0.0.1:${port}`;
  batches.start(batchEdge(useCases, maxBodyBytes));
  return {
    url,
    port,
    client: new HttpClient(
      url,
      options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` },
    ),
    engine,
    home,
    app,
    board,
    registry,
    bootId: identity.bootId,
    instanceId: identity.instanceId,
    quits,
    log: () => lines.join(''),
    setOpen: (value) => {
      open = value;
    },
    setDraining: (value) => {
      draining = value;
    },
    close: async (how) => {
      // Streams that a test left open would keep the server up.
      app.server.closeAllConnections();
      await batches.close();
      await app.close();
      await Promise.all([responses?.settled(), keys.close()]);
      if (how?.keepsHome !== true) await removeFolder(home);
    },
  };
}

async function installModels(home: string, registry: Registry): Promise<void> {
  const other = path.join(home, 'other.gguf');
  await copyFile(tinyModels.chat, other);
  await importFile(registry, other, { id: installed.slashed });
  await registerBuiltin(registry, [
    { id: installed.chat, path: tinyModels.chat },
    { id: installed.embedding, path: tinyModels.embedding },
  ]);
  await registry.setDefault(installed.chat);
}

export function keepingStream(lines: string[]): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, callback) {
      lines.push(chunk.toString('utf8'));
      callback();
    },
  });
}
