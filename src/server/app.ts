/**
 * server owns what `hearth serve` runs: HTTP, the use cases and the engine. Verbs such as `eval` run some of its use
 * cases without it. It does not know how a worker computes.
 * This file wires them together.
 */
import { randomBytes } from 'node:crypto';
import { homedir, hostname, networkInterfaces } from 'node:os';
import type { FastifyBaseLogger } from 'fastify';
import { systemClock } from '../lib/base/clock.ts';
import type { Config } from '../config/config.ts';
import { isLoopback, ownHosts } from '../config/listen-address.ts';
import { readTlsFiles, type TlsFiles } from '../config/tls-files.ts';
import { newEvidenceIssuer } from '../trust/evidence/issuer.ts';
import { readSigningKey } from '../trust/evidence/rotation.ts';
import { type AccessRules, rightsOfOwner } from './http/guard/guard.ts';
import { batchEdge } from './http/batch-edge.ts';
import { close, createHttpServer, type HttpOptions, listen } from './http/server.ts';
import { createBackendBinding } from '../trust/identity/backend-binding.ts';
import { cacheFolder } from '../lib/files/cache-folder.ts';
import { readPins } from '../store/files/pin-file.ts';
import { createPromptCachePlan } from './engine/local/prompt-cache-plan.ts';
import { derivedSecret } from '../trust/identity/instance.ts';
import { loadIdentity } from '../trust/identity/instance.ts';
import { hashServerSource } from '../trust/identity/server-source.ts';
import type { ModelTarget } from './engine/ports.ts';
import { Balancer } from './engine/balance/balancer.ts';
import { JobBoard, watchSpeeds } from './engine/observe/job-board.ts';
import { createMetrics } from './engine/observe/metrics.ts';
import { ResponseStore } from '../store/responses/response-store.ts';
import { openRegistry, type Registry } from '../store/registry/registry.ts';
import { libraryHint } from '../store/libraries/own.ts';
import { forbiddenFile, type SealStatement, sealServer } from '../trust/identity/sealed.ts';
import { signIdentity } from '../trust/identity/sign-identity.ts';
import { allModels } from './api/remote-models/all-models.ts';
import { RemoteModels } from './api/remote-models/remote-models.ts';
import { proofs } from './api/remote-models/prove-upstream.ts';
import { installedModels } from './api/models/installed-models.ts';
import { admission } from './api/access/admission.ts';
import { createJobStops } from './api/access/job-stops.ts';
import { ApiKeyStore } from './api/access/api-key-store.ts';
import { answerChecks } from './api/chat/checked-jobs.ts';
import { compaction } from './api/chat/compaction/compaction.ts';
import { SummaryBook } from './api/chat/compaction/summary.ts';
import { EngineFeed } from './api/events/engine-feed.ts';
import type { DeviceStatus } from './api/events/engine-view.ts';
import { openTracing } from './tracing.ts';
import { type Builtins, LibraryUseCases } from './api/library.ts';
import { signatureGate } from './api/passport/signature-gate.ts';
import { GpuTrialRun } from './api/probe/gpu-trial.ts';
import { gpuTrialEffects } from './api/probe/gpu-trial-effects.ts';
import { createProbe as createModelProbe } from './api/probe/probe-model.ts';
import { freeMemoryBytes } from './engine/local/memory/free-memory.ts';
import { RequestRecorder } from './api/requests/recorder.ts';
import { BatchUseCases } from './api/batches/batches.ts';
import type { FindRights } from './api/batches/ports.ts';
import { createUseCases } from './api/use-cases.ts';
import { DEFAULT_SCHEDULER_LIMITS } from './engine/scheduler/limits.ts';
import { createEngine } from './engine/scheduler/loop.ts';
import { stagedEngine } from './engine/stages.ts';
import { openTuningFolder } from './engine/local/tuning-folder.ts';
import { createLocalBackend, type LocalBackend } from './engine/local/local-backend.ts';
import { deferred } from '../lib/base/deferred.ts';
import { LOCAL_ENGINE } from './engine/local/model-source.ts';
import { createCommandBackend } from './engine/command/command-backend.ts';
import { COMMAND_ENGINE } from './engine/command/source.ts';
import { Connections } from './engine/upstream/http/connections.ts';
import { createProbe } from './engine/upstream/look/probe.ts';
import { targetPrivacy, REMOTE_ENGINE } from './engine/upstream/ports.ts';
import { createRemoteBackend } from './engine/upstream/remote-backend.ts';
import { EngineStore } from '../store/engines/engine-store.ts';
import { librariesFolder, untestedRelease } from '../lib/files/native-library.ts';
import { loadLimits } from './engine/local/limits.ts';

export interface RunningService {
  readonly port: number;
  readonly registry: Registry;
  /** Proves that the page belongs to the user that runs this service. */
  readonly pageToken: string;
  /** Reads the certificate files again for new connections; throws if certificate and key do not match. */
  renewTls(): void;
  open(): void;
  close(drainMs: number): Promise<void>;
}

export interface AppOptions {
  readonly config: Config;
  readonly version: string;
  readonly logger: FastifyBaseLogger;
  /** The home folder is read-only: installed models are served, and nothing is stored. */
  readonly readOnly?: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly builtins: Builtins;
  /** Shuts the process down on an authorised request. */
  readonly quit: HttpOptions['quit'];
}

export async function startApp(options: AppOptions): Promise<RunningService> {
  const { config, logger } = options;
  let tls = readTlsFiles(config);
  const instance = await loadIdentity({ home: config.home });
  const signingKey = () => readSigningKey(config.home, instance.instanceId);
  const libraries = librariesFolder(config.home);
  const hint = libraryHint(libraries);
  const untested = untestedRelease(libraries);
  if (hint !== null) logger.warn({}, hint);
  // Hashed as soon as the service listens; earlier, it would delay the first response.
  const listening = deferred<void>();
  const serverSource = listening.promise.then(() => hashServerSource());
  const bound = createBackendBinding({
    gpu: config.gpu,
    libraries,
    serverSource,
    reportedFolder: () => {
      const facts = backend.backendFacts();
      return facts === null || 'failed' in facts || facts.folder === '' ? null : facts.folder;
    },
  });
  const gpuTrial = new GpuTrialRun({
    clock: systemClock,
    log: logger,
    gpu: config.gpu,
    mayFetch: () => config.gpuFetch === 'auto' && !config.sealed && !options.readOnly,
    isBusy: () => board.jobs.length > 0,
    freeBytes: freeMemoryBytes,
    ...gpuTrialEffects({ env: options.env, libraries, userHome: homedir(), hubHosts: config.hubHosts }),
  });
  await gpuTrial.resume();
  const backend = createLocalBackend({
    onBooted: (facts) => gpuTrial.booted(facts),
    onLoaded: (loaded, facts) => gpuTrial.loaded(loaded, facts),
    betweenModels: () => gpuTrial.betweenModels(),
    hostEnv: options.env,
    gpu: config.gpu,
    libraries,
    clock: systemClock,
    log: logger,
    limits: loadLimits(config.loadTimeoutMs),
    draftTokens: config.draftTokens,
    tuning: await openTuningFolder({
      home: config.home,
      backendSha256: bound.knownSha256,
      readOnly: options.readOnly === true,
      log: logger,
    }),
    sealing: async () =>
      seal === null
        ? null
        : {
            network: seal,
            readable: await registry.modelPaths(),
            writable: [cacheFolder(config.home)],
            forbidden: forbiddenFile(config.home),
          },
    promptCache: await createPromptCachePlan({
      home: config.home,
      ramBytes: config.cacheRam,
      diskBytes: options.readOnly === true ? 0 : config.cacheDisk,
      secret: derivedSecret(instance.keys, 'prompt cache'),
      gpu: config.gpu,
      backendSha256: bound.knownSha256,
    }),
    pins: async (modelId) =>
      (await readPins(config.home)).flatMap(({ model, prefix }) => (model === modelId ? [prefix] : [])),
    backendGuard: async () => {
      const refusal = await bound.refusal();
      if (refusal !== null) throw refusal;
    },
  });
  const exchanges = {
    clock: systemClock,
    connections: new Connections(),
    userAgent: `hearth/${options.version}`,
  };
  const probe = createProbe(exchanges);
  const keys = await ApiKeyStore.open({
    home: config.home,
    clock: systemClock,
    log: logger,
    isLocal: (target) => targetPrivacy(target) === 'local',
  });
  const tracing = await openTracing({
    env: options.env,
    version: options.version,
    instanceId: instance.instanceId,
    log: logger,
  });
  const metrics = createMetrics({
    clock: systemClock,
    version: options.version,
    residencies: () => scheduler.residencies(),
    keys: () => keys.uses(),
    upstreams: () => balancer.upstreams(),
  });
  const board = new JobBoard(systemClock);
  const speeds = watchSpeeds();
  const scheduler = createEngine({
    backends: {
      [LOCAL_ENGINE]: backend,
      [REMOTE_ENGINE]: createRemoteBackend({ ...exchanges, ...proofs(exchanges) }),
      [COMMAND_ENGINE]: createCommandBackend({ ...exchanges, probe, hostEnv: options.env }),
    },
    clock: systemClock,
    log: logger,
    freeMemory: () => backend.freeMemory(),
    observers: [metrics, speeds, board],
    limits: liveLimits(config),
  });
  const balancer = new Balancer({
    residencies: () => scheduler.residencies(),
    probe,
    clock: systemClock,
    log: logger,
    random: Math.random,
    onFirstToken: metrics.onFirstToken,
    onChange: () => board.onChange(),
  });
  const summaries = new SummaryBook();
  const stops = createJobStops();
  const stages = [compaction(summaries), answerChecks, admission, stops, balancer];
  const engine = stagedEngine(scheduler, stages);
  const recorder = new RequestRecorder({
    mode: config.record,
    textForMs: config.recordTextForMs,
    clock: systemClock,
  });
  const feed = new EngineFeed({
    engine,
    board,
    devices: () => deviceStatuses(backend),
    upstreams: () => balancer.upstreams(),
    gpu: () => gpuTrial.state,
    recorder,
    clock: systemClock,
    bootId: instance.bootId,
  });
  let seal: SealStatement['network'] | null = null;
  const sealed = (): SealStatement | null => {
    const facts = backend.backendFacts();
    const worker = facts === null || 'failed' in facts ? undefined : facts.seal;
    return seal === null ? null : { network: seal, worker_files: worker?.files ?? null };
  };
  const access = boundAccess(config, () => tls?.certificate.names ?? []);
  let isDraining = false;
  let isOpen = false;
  let address = '';
  const registry = openRegistry({ home: config.home, settings: config });
  const identity = { version: options.version, instanceId: instance.instanceId, bootId: instance.bootId };
  const installed = installedModels(registry, config);
  const remote = new RemoteModels({
    installed,
    engines: new EngineStore(registry.store),
    isSealed: config.sealed,
    probe,
    env: options.env,
    clock: systemClock,
    log: logger,
  });
  if (config.sealed) await remote.refuseSealed();
  const models = allModels({ installed, remote, registry });
  const isKeeping = config.storeResponses && options.readOnly !== true;
  const responses = isKeeping ? new ResponseStore(config.home, systemClock, { log: logger }) : null;
  const findRights: FindRights = async (owner) => {
    await keys.refresh();
    const rights = rightsOfOwner(access, keys, owner);
    return rights && { gate: rights.holder ?? undefined, name: rights.holder?.record.name ?? 'batch' };
  };
  const batches =
    options.readOnly === true
      ? null
      : new BatchUseCases({ home: config.home, findRights, clock: systemClock, log: logger });
  const useCases = createUseCases({
    home: config.home,
    models,
    engine,
    stops,
    summaries,
    evidence: newEvidenceIssuer({
      identity: instance,
      version: options.version,
      clock: systemClock,
      serverSource,
      backend: bound.hash,
      sealed,
      signingKey,
    }),
    responses,
    batches,
    events: feed,
    recorder,
    keyUses: () => keys.uses(),
    library: new LibraryUseCases({
      log: logger,
      registry,
      models,
      engine,
      hub: { env: options.env, hubHosts: config.hubHosts, sealed: config.sealed },
      foreign: { env: options.env, userHome: homedir(), platform: process.platform },
      probe: createModelProbe({ env: options.env, gpu: config.gpu, libraries }, (line) => logger.warn(line)),
      signatures: signatureGate(config),
      signed: async (model) => {
        const { showKnownSignatures } = await import('./api/passport/show-signatures.ts');
        return showKnownSignatures(model, config);
      },
      measured: async (model) => {
        const { showEval } = await import('./api/eval/show-eval.ts');
        return showEval(config.home, model);
      },
      passport: async (model) => {
        const { servedPassport } = await import('./api/passport/served-passport.ts');
        const { home, signers } = config;
        const ask = (target: ModelTarget) => backend.askFormat(target);
        return servedPassport(model, { home, signers, registry, version: options.version, ask });
      },
      askFormat: (target) => backend.askFormat(target),
      builtins: options.builtins,
    }),
    clock: systemClock,
    measuredSpeed: speeds.of,
    upstreams: () => balancer.upstreams(),
    listUpstreams: () => remote.upstreams(),
    process: identity,
    isDraining: () => isDraining,
    isOpen: () => isOpen,
    isNativeReady: () => bound.isBound() && !('failed' in (backend.backendFacts() ?? {})),
    sealed,
    serverSourceSha256: async () => (await serverSource).sha256,
    backendSha256: async () => (await bound.hash())?.sha256 ?? null,
    untestedRelease: () => untested,
    sign: async (body, nonce) => signIdentity(body, nonce, await signingKey(), address),
    options: config,
  });
  const pageToken = randomBytes(32).toString('base64url');
  const opened = deferred<void>();
  const httpOptions: HttpOptions = {
    process: identity,
    access,
    pageToken,
    pageConnect: config.pageConnect,
    keys,
    maxBodyBytes: config.maxBodyBytes,
    streamHeadAfterMs: config.streamHeadAfterMs,
    errorShape: config.errorShape,
    strictParams: config.strictParams,
    clock: systemClock,
    logger,
    metrics,
    recorder,
    tracing,
    opened: opened.promise,
    isDraining: () => isDraining,
    quit: options.quit,
  };
  const app = await createHttpServer(useCases, httpOptions);
  const { host, port: wantedPort, socket } = config;
  const entrances = await listen(app, httpOptions, {
    host,
    port: wantedPort,
    socket,
    tls: credentialsOf(tls),
  });
  const { port } = entrances;
  address = `${host}:${port}`;
  // Before the first worker, which inherits the seal, and before the first request.
  if (config.sealed) seal = await sealServer({ host: config.host, port });
  listening.resolve();
  batches?.start(batchEdge(useCases, config.maxBodyBytes));
  backend.prepare();
  return {
    pageToken,
    port,
    renewTls: () => {
      tls = readTlsFiles(config);
      const credentials = credentialsOf(tls);
      if (credentials !== null) entrances.renewTls(credentials);
    },
    registry,
    open: () => {
      isOpen = true;
      opened.resolve();
    },
    close: async (drainMs) => {
      isDraining = true;
      opened.resolve();
      await batches?.close();
      await engine.drain(drainMs);
      feed.close();
      entrances.stop();
      await close(app, systemClock);
      await responses?.settled();
      await keys.close();
      await tracing?.close();
    },
  };
}

const credentialsOf = (tls: TlsFiles | null) =>
  tls === null ? null : { cert: tls.certificate.pem, key: tls.key };

/** Access settings are live. Facts derived from the address are fixed, except for the machine's own addresses. */
function boundAccess(config: Config, certified: () => readonly string[]): AccessRules {
  const addresses = (): string[] =>
    Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address));
  return Object.create(config, {
    ownHosts: {
      value: () => [
        ...ownHosts(config.host, { addresses: addresses(), hostName: hostname() }),
        ...certified(),
      ],
    },
    needsKey: { value: !isLoopback(config.host) },
  }) as AccessRules;
}

function deviceStatuses(backend: LocalBackend): DeviceStatus[] {
  const total = backend.totalMemory();
  const { reserveBytes } = DEFAULT_SCHEDULER_LIMITS;
  return backend.freeMemory().map(({ device, bytes: freeBytes }) => {
    const totalBytes = total.find((each) => each.device === device)?.bytes ?? null;
    return { device, totalBytes, freeBytes, reserveBytes };
  });
}

function liveLimits(config: Config) {
  return {
    get maxQueue() {
      return config.maxQueue;
    },
    get maxLoadedModels() {
      return config.maxLoadedModels;
    },
    get keepAliveMs() {
      return config.keepAliveMs;
    },
    numParallel: config.numParallel,
  };
}
