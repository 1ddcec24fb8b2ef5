/**
 * Pinned prompts: the system prompt and tools of a key's latest chat stay in the cache until the pin is removed. A
 * client does not send the text again, so pins work in every dialect. A pin is visible only to the key that made it.
 */
import { randomBytes } from 'node:crypto';
import type { PinJob } from '../../contract/job.ts';
import type { PinnedEvent } from '../../contract/job-event.ts';
import { isLocal } from '../engine/local/model-source.ts';
import { requireEvent } from '../engine/collect.ts';
import type { Engine } from '../engine/ports.ts';
import type { Clock } from '../../lib/base/clock.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { cachedKinds, cacheFolder, release } from '../../lib/files/cache-folder.ts';
import { isOfModel } from '../../lib/prompt-cache/kind.ts';
import { isSamePin } from '../../lib/prompt-cache/pin.ts';
import { addPin, type PinRecord, readPins, removePin } from '../../store/files/pin-file.ts';
import type { CachePin, CachePinList } from '../../wire/prompt-cache.ts';
import { type Caller, newJobId } from './caller.ts';
import type { Models, ServedModel } from './models/served-model.ts';
import { runWhole } from './run-whole.ts';

export interface PinPorts {
  readonly home: string;
  readonly models: Pick<Models, 'find'>;
  readonly engine: Pick<Engine, 'submit' | 'residencies'>;
  readonly clock: Pick<Clock, 'unixMs'>;
}

export class PinUseCases {
  readonly #ports: PinPorts;

  constructor(ports: PinPorts) {
    this.#ports = ports;
  }

  async list(owner: string): Promise<CachePinList> {
    const own = (await readPins(this.#ports.home)).filter((pin) => belongsTo(pin, owner));
    return { object: 'list', data: own.map(shown) };
  }

  /** Throws `pin_refused` if there is nothing to pin, or no room for it. */
  async pin(name: string, caller: Caller): Promise<CachePin> {
    const { home, models, clock } = this.#ports;
    const model = await models.find(name);
    const target = model.target();
    if (!isLocal(target)) {
      const ability = 'keep the state of a prompt';
      throw fail('capability_missing', { model: model.id, ability, remedy: 'pin there', param: 'model' });
    }
    if (!this.#isLoaded(model.id)) throw fail('pin_refused', { model: model.id, reason: 'no_chat' });
    const { pin, heldBytes } = await this.#run(model, { domain: caller.owner }, caller);
    const known = (await readPins(home)).find(
      (each) => each.model === model.id && isSamePin(each.prefix, pin),
    );
    if (known !== undefined) return shown(known);
    const record: PinRecord = {
      id: `pin_${randomBytes(6).toString('hex')}`,
      model: model.id,
      digest: target.source.digest,
      prefix: pin,
      bytes: heldBytes,
      createdAt: new Date(clock.unixMs()).toISOString(),
    };
    await addPin(home, record).catch(async (error: unknown) => {
      await this.#run(model, { domain: caller.owner, ends: pin }, caller);
      throw error;
    });
    return shown(record);
  }

  async unpin(id: string, caller: Caller): Promise<CachePin> {
    const { home, models } = this.#ports;
    const pins = await readPins(home);
    const record = pins.find((pin) => pin.id === id && belongsTo(pin, caller.owner));
    if (record === undefined) throw fail('pin_not_found', { id, param: 'id' });
    await removePin(home, id);
    const { model: modelId, prefix, digest } = record;
    if (this.#isLoaded(modelId)) {
      await this.#run(await models.find(modelId), { domain: caller.owner, ends: prefix }, caller);
    } else if (digest !== null && !pins.some((pin) => pin !== record && pin.digest === digest)) {
      // The next load of the model would do it, if there is one. If it has other pins, the files of this one are not
      // known here.
      const kinds = await cachedKinds(cacheFolder(home));
      for (const { files } of kinds.filter(({ name }) => isOfModel(name, digest))) await release(files);
    }
    return shown(record);
  }

  #isLoaded(modelId: string): boolean {
    return this.#ports.engine
      .residencies()
      .some((each) => each.modelId === modelId && each.state === 'ready');
  }

  async #run(
    model: ServedModel,
    asked: Pick<PinJob, 'domain' | 'ends'>,
    caller: Caller,
  ): Promise<PinnedEvent> {
    const job: PinJob = { kind: 'pin', jobId: newJobId(caller), ...asked };
    const events = await runWhole(this.#ports.engine, { model, job, caller, keepAlive: null });
    return requireEvent(events, 'pinned');
  }
}

/** Prefixes with LoRA adapters belong to the same key. */
const belongsTo = ({ prefix }: PinRecord, owner: string): boolean => prefix.owner.split('\n')[0] === owner;

const shown = ({ id, model, prefix, bytes, createdAt }: PinRecord): CachePin => ({
  object: 'svc.cache_pin',
  id,
  model,
  tokens: prefix.tokens,
  bytes,
  created: Math.floor(Date.parse(createdAt) / 1000),
});
