/**
 * If a GPU needs only a library, the service fetches the Vulkan package automatically, tries it apart from its own
 * workers, and uses it if it is faster. The trial begins when the processor has loaded a model that is large enough
 * to compare; a service with small models fetches nothing.
 */
import { type BackendFacts, type GpuSupport, isFetched } from '../../../contract/load.ts';
import type { Clock } from '../../../lib/base/clock.ts';
import type { Logger } from '../../../lib/base/logger.ts';
import { isSvcError, errorMessage, errorReason } from '../../../lib/errors/svc-error.ts';
import { describeTrial, type TrialResult } from '../../../store/libraries/gpu-trial.ts';
import type { GpuView } from '../../../wire/operation/engine-state.ts';
import type { ModelFile } from './compare-libraries.ts';

/** Below it, starting work on a GPU costs more than the work. */
export const LEAST_BYTES = 100 * 1024 * 1024;
/** During the comparison both libraries hold the weights, in addition to the service's. */
const FREE_PER_BYTE = 2.2;
const QUIET_MS = 10_000;
const BY_ITSELF =
  'When a chat model of at least 100 MB is loaded, the service fetches and tries the Vulkan library itself; SVC_GPU_FETCH=off forbids this.';

export interface TriedModel extends ModelFile {
  readonly kind: 'chat' | 'embedding';
}

export interface GpuTrialPorts {
  readonly clock: Pick<Clock, 'after' | 'unixMs'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly gpu: string;
  readonly mayFetch: () => boolean;
  readonly isOffline: () => boolean;
  readonly isBusy: () => boolean;
  readonly freeBytes: () => number;
  readonly fileBytes: (path: string) => Promise<number>;
  readonly hasPackage: () => boolean;
  readonly read: () => Promise<TrialResult | null>;
  readonly write: (trial: TrialResult) => Promise<void>;
  readonly isFetched: () => Promise<boolean>;
  readonly fetch: () => Promise<void>;
  readonly devices: () => Promise<BackendFacts>;
  readonly compare: (
    model: ModelFile,
  ) => Promise<{ readonly build: number; readonly present: number } | null>;
  readonly adopt: () => Promise<void>;
  readonly drop: () => Promise<void>;
}

function lackingPackages(setting: string, { gpu, gpuSupport = [] }: BackendFacts): GpuSupport['kind'][] {
  if (setting !== 'auto' || gpu !== 'none') return [];
  const ready = gpuSupport.filter(({ missing }) => missing.length === 0);
  return ready.some(isFetched) ? [] : ready.map(({ kind }) => kind);
}

const SHOWN = { cuda: 'CUDA', vulkan: 'Vulkan' } as const;

/** Null: the operator chose, a GPU is used, or none could be. */
export function gpuHint(setting: string, facts: BackendFacts): string | null {
  const [kind] = lackingPackages(setting, facts);
  if (kind === undefined) return null;
  return `This machine has a GPU that ${SHOWN[kind]} could use, but the library for it is not installed; run: hearth gpu install ${kind}, then restart the service.`;
}

function usedGpu({ gpu, devices = [] }: BackendFacts): GpuView | null {
  const names = devices
    .filter(({ kind }) => kind === 'gpu' || kind === 'igpu')
    .map((each) => each.description);
  if (gpu === 'none' || names.length === 0) return null;
  return { state: 'using', words: `Models use ${names.join(' and ')}.` };
}

export class GpuTrialRun {
  readonly #ports: GpuTrialPorts;
  /** One trial per process; after a network failure the next start tries again. */
  #hasBegun = false;
  #isWon = false;
  #hasLogged = false;
  #state: GpuView | null = null;

  constructor(ports: GpuTrialPorts) {
    this.#ports = ports;
  }

  get state(): GpuView | null {
    return this.#state;
  }

  /** Installs a package that won just before the last process ended. Call it before the first worker starts. */
  async resume(): Promise<void> {
    const trial = await this.#ports.read();
    this.#isWon = trial?.outcome === 'faster' && (await this.#ports.isFetched());
    await this.betweenModels();
  }

  /** Called after a worker's boot: logs once why this machine's GPU is unused. */
  booted(facts: BackendFacts): void {
    const used = usedGpu(facts);
    if (used !== null) this.#state = used;
    if (this.#hasLogged) return;
    this.#hasLogged = true;
    const { log, gpu } = this.#ports;
    const hint = gpuHint(gpu, facts);
    if (hint === null) return;
    void this.#ports.read().then((trial) => {
      const isTried = trial !== null && trial.outcome !== 'faster';
      const advice = this.#mayBegin(facts) ? `${hint} ${BY_ITSELF}` : hint;
      const words = isTried ? describeTrial(trial) : advice;
      this.#state ??= { state: isTried ? 'not used' : 'lacking', words };
      log.info({}, words);
    });
  }

  /** Never throws and never waits. */
  loaded(model: TriedModel, facts: BackendFacts): void {
    if (this.#hasBegun || model.kind !== 'chat' || !this.#mayBegin(facts)) return;
    this.#hasBegun = true;
    void this.#isMeasurable(model).then((can) => {
      this.#hasBegun = can;
      if (can) this.#whenQuiet(() => void this.#run(model));
    });
  }

  async #isMeasurable({ path }: TriedModel): Promise<boolean> {
    const bytes = await this.#ports.fileBytes(path).catch(() => 0);
    return bytes >= LEAST_BYTES && this.#ports.freeBytes() >= bytes * FREE_PER_BYTE;
  }

  /** Call it while no model is loaded. True: workers that start from now on have the GPU. */
  async betweenModels(): Promise<boolean> {
    if (!this.#isWon) return false;
    this.#isWon = false;
    try {
      await this.#ports.adopt();
      return true;
    } catch (error) {
      this.#ports.log.warn({ reason: errorMessage(error) }, 'The GPU library could not be put in place.');
      return false;
    }
  }

  #mayBegin(facts: BackendFacts): boolean {
    const { gpu, mayFetch, isOffline, hasPackage } = this.#ports;
    return lackingPackages(gpu, facts).includes('vulkan') && mayFetch() && !isOffline() && hasPackage();
  }

  /** A measurement and running answers would slow each other down. */
  #whenQuiet(begin: () => void): void {
    this.#ports.clock.after(QUIET_MS, () => (this.#ports.isBusy() ? this.#whenQuiet(begin) : begin()));
  }

  async #run(model: TriedModel): Promise<void> {
    const { log } = this.#ports;
    try {
      if ((await this.#ports.read()) !== null) return;
      const words =
        'This machine has a GPU that Vulkan could use. Its library (24 MB) is fetched and tried; SVC_GPU_FETCH=off forbids this.';
      this.#state = { state: 'fetching', words };
      log.info({}, words);
      await this.#ports.fetch();
    } catch (error) {
      const remedy = 'It is tried again after a restart; hearth gpu install vulkan does it now.';
      const words = `Vulkan's library could not be fetched. ${remedy}`;
      this.#state = { state: 'lacking', words };
      log.warn({ reason: errorMessage(error) }, words);
      return;
    }
    try {
      const trial = { ...(await this.#tried(model)), at: new Date(this.#ports.clock.unixMs()).toISOString() };
      await this.#ports.write(trial);
      this.#isWon = trial.outcome === 'faster';
      if (!this.#isWon) await this.#ports.drop();
      const when = this.#isWon
        ? ' Models use it from the next load while none is loaded, or after a restart.'
        : '';
      const words = `${describeTrial(trial)}.${when}`;
      this.#state = { state: this.#isWon ? 'ready' : 'not used', words };
      log.info({}, words);
    } catch (error) {
      log.warn({ reason: errorMessage(error) }, 'What came of trying a GPU could not be noted.');
    }
  }

  async #tried(model: TriedModel): Promise<Omit<TrialResult, 'at'>> {
    try {
      const facts = await this.#ports.devices();
      const device = facts.devices?.find(({ kind }) => kind === 'gpu' || kind === 'igpu');
      if (device === undefined) return { outcome: 'no-gpu', ...softwareDevice(facts) };
      const named = { device: device.description.slice(0, 256) };
      const words = `The GPU ${named.device} is tried.`;
      this.#state = { state: 'trying', words };
      this.#ports.log.info({ model: model.id }, words);
      const measured = await this.#ports.compare(model);
      if (measured === null)
        return { outcome: 'failed', ...named, reason: 'the processor could not be measured' };
      const times = { model: model.id, gpuMs: measured.build, cpuMs: measured.present };
      return { outcome: times.gpuMs < times.cpuMs ? 'faster' : 'slower', ...named, times };
    } catch (error) {
      const reason = isSvcError(error) ? errorReason(error) : errorMessage(error);
      return { outcome: 'failed', reason: reason.slice(0, 1024) };
    }
  }
}

function softwareDevice({ devices = [] }: BackendFacts): { readonly reason?: string } {
  const software = devices.find(({ name, kind }) => kind === 'cpu' && name !== 'CPU');
  return software === undefined ? {} : { reason: `${software.description} computes on the processor` };
}
