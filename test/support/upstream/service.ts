/** The service over engines of the user's, without a local one: real sockets on both sides. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { allModels } from '../../../src/server/api/remote-models/all-models.ts';
import { RemoteModels } from '../../../src/server/api/remote-models/remote-models.ts';
import { proofs } from '../../../src/server/api/remote-models/prove-upstream.ts';
import { installedModels } from '../../../src/server/api/models/installed-models.ts';
import { createCommandBackend } from '../../../src/server/engine/command/command-backend.ts';
import { COMMAND_ENGINE } from '../../../src/server/engine/command/source.ts';
import { Connections } from '../../../src/server/engine/upstream/http/connections.ts';
import { createProbe } from '../../../src/server/engine/upstream/look/probe.ts';
import { REMOTE_ENGINE } from '../../../src/server/engine/upstream/ports.ts';
import { createRemoteBackend } from '../../../src/server/engine/upstream/remote-backend.ts';
import { Balancer } from '../../../src/server/engine/balance/balancer.ts';
import type { BalanceLimits } from '../../../src/server/engine/balance/limits.ts';
import { createEngine } from '../../../src/server/engine/scheduler/loop.ts';
import { stagedEngine } from '../../../src/server/engine/stages.ts';
import { systemClock } from '../../../src/lib/base/clock.ts';
import { silentLogger } from '../../../src/lib/base/logger.ts';
import { EngineStore } from '../../../src/store/engines/engine-store.ts';
import type { KnownModel, UpstreamEntry } from '../../../src/store/engines/entry.ts';
import { openRegistry, type Registry } from '../../../src/store/registry/registry.ts';
import {
  keepingStream,
  type ScriptedOptions,
  type ScriptedService,
  startScripted,
} from '../http/scripted-service.ts';
import { removeFolder } from '../remove-folder.ts';

export interface EngineService {
  readonly service: ScriptedService;
  readonly home: string;
  readonly engines: EngineStore;
  readonly registry: Registry;
  /** What the scheduler and the balancer logged, as it is written. */
  log(): string;
  /** Serves an upstream with these models, without asking it for them. */
  add(
    entry: Partial<UpstreamEntry> & Pick<UpstreamEntry, 'name' | 'baseUrl'>,
    models: readonly string[],
  ): Promise<void>;
  close(): Promise<void>;
}

export const knownModel = (name: string, over: Partial<KnownModel> = {}): KnownModel => ({
  name,
  kind: name.startsWith('embed') ? 'embedding' : 'chat',
  contextLength: 4_096,
  media: null,
  embeddingWidth: null,
  reasoning: null,
  digest: null,
  ...over,
});

export async function startEngines(
  env: Readonly<Record<string, string>> = {},
  options: ScriptedOptions & { readonly balance?: Partial<BalanceLimits> } = {},
): Promise<EngineService> {
  const home = await mkdtemp(path.join(tmpdir(), 'hearth-engines-'));
  const registry = openRegistry({ home });
  const engines = new EngineStore(registry.store);
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, keepingStream(lines));
  const deps = { clock: systemClock, connections: new Connections(), userAgent: 'hearth/test' };
  const probe = createProbe(deps);
  const scheduler = createEngine({
    backends: {
      [REMOTE_ENGINE]: createRemoteBackend({ ...deps, ...proofs(deps) }),
      [COMMAND_ENGINE]: createCommandBackend({ ...deps, probe, hostEnv: env }),
    },
    clock: systemClock,
    log,
    freeMemory: () => [{ device: 'CPU', bytes: 2 ** 34 }],
  });
  const balancer = new Balancer({
    residencies: () => scheduler.residencies(),
    probe,
    clock: systemClock,
    log,
    random: Math.random,
    limits: options.balance ?? {},
  });
  const engine = stagedEngine(scheduler, [balancer]);
  const installed = installedModels(registry);
  const remote = new RemoteModels({
    installed,
    engines,
    isSealed: false,
    probe,
    env,
    clock: systemClock,
    log: silentLogger,
  });
  const models = allModels({ installed, remote, registry });
  const service = await startScripted({
    ...options,
    models: false,
    over: { models, engine, upstreams: () => balancer.upstreams() },
  });
  return {
    service,
    home,
    engines,
    registry,
    log: () => lines.join(''),
    add: (entry, names) =>
      engines.put({
        schema: 1,
        type: 'upstream',
        dialect: 'openai',
        privacy: 'local',
        aliases: {},
        known: names.map((name) => knownModel(name)),
        addedAt: '2026-01-01T00:00:00Z',
        ...entry,
      }),
    close: async () => {
      await service.close();
      await engine.drain(0);
      await removeFolder(home);
    },
  };
}
