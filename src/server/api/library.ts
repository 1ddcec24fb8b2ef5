/** The page's use cases for installed models. The store does the work, as it does for the verbs of the terminal. */
import path from 'node:path';
import type { ModelFormatFacts } from '../../contract/job-event.ts';
import { SETTING_GROUPS } from '../../contract/settings/load-settings.ts';
import { parseDuration } from '../../lib/base/duration.ts';
import { EventQueue } from '../../lib/base/event-queue.ts';
import type { Logger } from '../../lib/base/logger.ts';
import { Turns } from '../../lib/base/turns.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import type { Engine, ModelTarget } from '../engine/ports.ts';
import {
  blobDigests,
  FOREIGN_STORES,
  isBlobFile,
  type ModelManifest,
  type ModelParams,
} from '../../store/files/manifest.ts';
import type { ForeignEnvironment } from '../../store/foreign/foreign-store.ts';
import { addAlias, copyModel, removeModel } from '../../store/install/changes.ts';
import { importFile, installCandidate } from '../../store/install/import.ts';
import type { Probe } from '../../store/install/inspection.ts';
import type { SignatureGate } from '../../store/install/signature-gate.ts';
import type { InstallEvent, OnInstallEvent } from '../../store/install/install-event.ts';
import { verifyModel } from '../../store/install/verify.ts';
import { paramNames, readParam, whenItActs } from '../../store/registry/param-names.ts';
import { PARAM_ROWS, type ParamInput, paramText, splitLines } from '../../store/registry/param-rows.ts';
import { reducedWindow } from '../../store/registry/target.ts';
import type { InstalledModel, Registry } from '../../store/registry/registry.ts';
import type {
  AliasRequest,
  Changed,
  ForeignModels,
  FoundModels,
  ImportRequest,
  Library,
  LoadPlan,
  ModelEval,
  NamedModel,
  PullRequest,
  Quants,
  RestoreRequest,
  SettingsRequest,
} from '../../wire/operation/library.ts';
import type { Passport, SignatureShown } from '../../wire/operation/passport.ts';
import { setTried } from './check/set-tried.ts';
import { listModels } from './models/models.ts';
import type { Models } from './models/served-model.ts';
import { hubOptions, type HubEnvironment } from './hub-options.ts';

export interface LibraryPorts {
  readonly registry: Registry;
  readonly models: Pick<Models, 'list' | 'find' | 'defaultId'>;
  readonly engine: Pick<Engine, 'plan' | 'unload' | 'residencies'>;
  readonly hub: HubEnvironment;
  readonly foreign: ForeignEnvironment;
  readonly probe: Probe;
  readonly signatures: SignatureGate | undefined;
  readonly signed: (model: ModelManifest) => Promise<SignatureShown | null>;
  readonly askFormat: (target: ModelTarget) => Promise<ModelFormatFacts | null>;
  readonly measured: (model: ModelManifest) => Promise<ModelEval['eval']>;
  readonly passport: (model: InstalledModel) => Promise<Passport>;
  readonly builtins: Builtins;
  readonly log: Logger;
}

export interface Builtins {
  missing(registry: Registry): Promise<readonly string[]>;
  restore(registry: Registry, id: string): Promise<void>;
}

export type Progress = { readonly progress: InstallEvent } | { readonly done: object };

const UNLOAD = 'unload the model to have it at once';

const MOST_LONG_CHANGES = 4;

export class LibraryUseCases {
  readonly #ports: LibraryPorts;
  /** A passport reads files and may start a worker, so one is made at a time. */
  readonly #passports = new Turns();
  #longChanges = 0;

  constructor(ports: LibraryPorts) {
    this.#ports = ports;
  }

  async show(isShown: (id: string) => boolean): Promise<Library> {
    const { registry, models, builtins } = this.#ports;
    const [served, manifests, damaged, restorable, chat, embedding] = await Promise.all([
      listModels(models),
      registry.list(),
      registry.damaged(),
      builtins.missing(registry),
      models.defaultId('chat'),
      models.defaultId('embedding'),
    ]);
    const shown = (id: string | null): string | null => (id !== null && isShown(id) ? id : null);
    const entries = new Map(served.data.map((entry) => [entry.id, entry]));
    const listed = manifests.filter(({ id }) => isShown(id));
    const signed = await Promise.all(listed.map((manifest) => this.#ports.signed(manifest)));
    return {
      models: listed.map((manifest, at) => ({
        ...shortSignature(signed[at]),
        ...(entries.get(manifest.id) ?? bareEntry(manifest)),
        kind: manifest.kind,
        params: shownParams(manifest, (_, value) => value),
        frees_bytes: freedBy(manifest, manifests),
        texts: shownParams(manifest, paramText),
      })),
      damaged: damaged.filter(({ id }) => isShown(id)).map(({ id, reason }) => ({ id, reason })),
      defaults: { chat: shown(chat), embedding: shown(embedding) },
      next_defaults: {
        chat: shown(await registry.defaultId('chat', chat)),
        embedding: shown(await registry.defaultId('embedding', embedding)),
      },
      restorable: restorable.filter(isShown),
      groups: SETTING_GROUPS,
      settable: PARAM_ROWS.map((row) => ({ ...row, input: wireInput(row.input) })),
    };
  }

  async foreign(): Promise<ForeignModels> {
    const { discover } = await import('../../store/foreign/discover.ts');
    const scans = await discover(this.#ports.foreign);
    return {
      data: scans.flatMap(({ store, candidates }) =>
        candidates.map(({ id, files }) => ({ store, id, path: files[0]?.path ?? '' })),
      ),
      problems: scans.flatMap(({ problems }) => problems.map(({ path, reason }) => ({ path, reason }))),
    };
  }

  async search(words: string, signal: AbortSignal): Promise<FoundModels> {
    const { searchHub } = await import('../../store/hub/choose/search.ts');
    const options = { ...(await hubOptions(this.#ports.hub)), signal };
    const data = await searchHub(words.trim().split(/\s+/), options);
    return { data: [...data] };
  }

  async quants(ref: string, signal: AbortSignal): Promise<Quants> {
    const { listQuants } = await import('../../store/hub/choose/quants.ts');
    const { fitQuants, freeForModels } = await import('./fit/fit-quants.ts');
    const { repo, quants } = await listQuants(ref, { ...(await hubOptions(this.#ports.hub)), signal });
    const freeBytes = freeForModels();
    const fit = fitQuants(quants, freeBytes);
    return {
      repo,
      free_bytes: Math.round(freeBytes),
      advised: fit.advised,
      data: fit.quants.map((each) => ({
        label: each.label,
        size_bytes: each.sizeBytes,
        least_bytes: each.leastBytes,
        usual_bytes: each.usualBytes,
        fits: each.fits,
      })),
    };
  }

  async plan(name: string, numCtx: number | null, check: (id: string) => void): Promise<LoadPlan> {
    const { models, engine } = this.#ports;
    const model = await models.find(name);
    check(model.id);
    const { loaded, planned, slots, window, evicts } = engine.plan(model.target(), numCtx);
    const memory = Object.fromEntries(planned.map(({ device, bytes }) => [device, Math.round(bytes)]));
    return { model: model.id, loaded, slots, num_ctx: window, memory, evicts: [...evicts] };
  }

  /** The last result of `hearth eval`. `check` throws if the caller may not see the model. */
  async lastEval(name: string, check: (id: string) => void): Promise<ModelEval> {
    const { models, registry, measured } = this.#ports;
    const { id } = await models.find(name);
    check(id);
    return { model: id, eval: (await registry.has(id)) ? await measured(await registry.find(id)) : null };
  }

  /** `check` throws if the model is not to be shown. `hasPaths`: who asks may see paths of this machine. */
  async passport(name: string, check: (id: string) => void, hasPaths: boolean): Promise<Passport> {
    const { models, registry, passport } = this.#ports;
    const { id } = await models.find(name);
    check(id);
    const model = await registry.find(id);
    const { withoutPaths } = await import('./passport/passport.ts');
    const made = await this.#passports.run(() => passport(model));
    return hasPaths ? made : withoutPaths(made);
  }

  async makeDefault({ model }: NamedModel): Promise<Changed> {
    const { registry } = this.#ports;
    const { id, kind } = await registry.setDefault(model);
    const now = kind === 'adapter' ? null : await registry.defaultId(kind);
    const note = 'A setting (SVC_DEFAULT_MODEL or SVC_EMBEDDING_MODEL) takes precedence over this choice.';
    return { model: id, ...(now === id ? {} : { note }) };
  }

  async alias({ model, alias }: AliasRequest): Promise<Changed> {
    const { id } = await addAlias(this.#ports.registry, model, alias);
    return { model: id };
  }

  async copy({ model, name }: { readonly model: string; readonly name: string }): Promise<Changed> {
    const { id } = await copyModel(this.#ports.registry, model, name);
    return { model: id };
  }

  async remove({ model }: NamedModel): Promise<Changed> {
    const { registry, engine, log } = this.#ports;
    const { id, removed } = await removeModel(registry, model);
    if (removed === 'alias') return { model: id, note: 'Only the alias was removed.' };
    // Running requests finish; the reply does not wait for them.
    engine
      .unload(id)
      .catch((error: unknown) => log.error({ err: error }, 'An unload failed because of a bug.'));
    return { model: id, note: 'The model was removed.' };
  }

  async restore({ model }: RestoreRequest): Promise<Changed> {
    const { registry, builtins } = this.#ports;
    await builtins.restore(registry, model);
    return { model };
  }

  async set({ model, settings }: SettingsRequest): Promise<Changed> {
    const patch = Object.fromEntries(Object.entries(settings).map(([name, text]) => readSetting(name, text)));
    const { registry, engine, askFormat } = this.#ports;
    const { model: changed, doubts } = await setTried(registry, model, patch, (next) =>
      askFormat(registry.toTarget(next)),
    );
    const window = 'numCtx' in patch ? reducedWindow(changed) : null;
    const isLoaded = engine.residencies().some(({ modelId }) => modelId === changed.id);
    const acts = whenItActs(changed.id, patch, isLoaded ? UNLOAD : null);
    const note = [...doubts, ...(window === null ? [] : [window.note]), acts].join(' ').trim();
    return {
      model: changed.id,
      ...(window === null ? {} : { num_ctx: window.numCtx }),
      ...(note === '' ? {} : { note }),
    };
  }

  verify({ model }: NamedModel, signal: AbortSignal): AsyncIterable<Progress> {
    return this.#long(signal, async (onEvent, stop) => {
      const { id, ok, files } = await verifyModel(this.#ports.registry, model, { onEvent, signal: stop });
      return { id, ok, files };
    });
  }

  pull({ ref, id }: PullRequest, signal: AbortSignal): AsyncIterable<Progress> {
    return this.#long(signal, async (onEvent, stop) => {
      const { pullModel } = await import('../../store/hub/pull.ts');
      const { registry, hub, probe, signatures } = this.#ports;
      const options = {
        ...(await hubOptions(hub)),
        ...(id === undefined ? {} : { id }),
        probe,
        signatures,
        signal: stop,
      };
      let installed = '';
      for await (const event of pullModel(registry, ref, options)) {
        onEvent(event);
        if (event.status === 'success') installed = event.id;
      }
      return { id: installed, ok: true };
    });
  }

  import(request: ImportRequest, signal: AbortSignal): AsyncIterable<Progress> {
    return this.#long(signal, async (onEvent, stop) => {
      const { registry, probe, signatures } = this.#ports;
      const { id, copy } = request;
      const options = { onEvent, signal: stop, probe, signatures, ...(copy === true ? { copy } : {}) };
      const named = id === undefined ? {} : { id };
      const model =
        request.store === undefined
          ? await importFile(registry, this.#fromHome(request.path), { ...options, ...named })
          : await installCandidate(registry, { ...(await this.#candidate(request)), ...named }, options);
      return { id: model.id, ok: true };
    });
  }

  /** Expands `~` to the home of the user that runs the service, because no shell does. */
  #fromHome(file: string): string {
    return file.startsWith('~/') ? path.join(this.#ports.foreign.userHome, file.slice(2)) : file;
  }

  async #candidate({ store, path }: ImportRequest) {
    const known = FOREIGN_STORES.find((name) => name === store);
    if (known === undefined) {
      const message = `store must be one of ${FOREIGN_STORES.join(', ')}.`;
      throw fail('unsupported_value', { param: 'store', message });
    }
    const { scanForeignStore } = await import('../../store/foreign/discover.ts');
    const { candidates } = await scanForeignStore(known, this.#ports.foreign);
    const found = candidates.find((candidate) => candidate.id === path);
    if (found === undefined) throw fail('model_not_found', { model: path, param: 'path' });
    return found;
  }

  /** A reader that leaves stops the work; the next attempt continues with the fetched part. */
  #long(
    signal: AbortSignal,
    work: (onEvent: OnInstallEvent, signal: AbortSignal) => Promise<object>,
  ): AsyncIterable<Progress> {
    if (this.#longChanges >= MOST_LONG_CHANGES) throw fail('too_many_changes', { limit: MOST_LONG_CHANGES });
    this.#longChanges += 1;
    const stop = new AbortController();
    const queue = new EventQueue<Progress>(() => stop.abort());
    work((event) => queue.push({ progress: event }), AbortSignal.any([signal, stop.signal]))
      .then(
        (done) => {
          queue.push({ done });
          queue.end();
        },
        (error: unknown) => queue.fail(error),
      )
      .finally(() => {
        this.#longChanges -= 1;
      });
    return queue;
  }
}

function bareEntry({ id, addedAt, ownedBy, aliases, facts }: ModelManifest) {
  return {
    id,
    object: 'model' as const,
    owned_by: ownedBy,
    created: Math.floor(Date.parse(addedAt) / 1000),
    size_bytes: facts.sizeBytes,
    aliases: [...aliases],
  };
}

const shortSignature = (shown: SignatureShown | null | undefined) =>
  shown ? { signature: { state: shown.state, says: shown.says } } : {};

function freedBy(manifest: ModelManifest, all: readonly ModelManifest[]): number {
  const held = new Set(all.filter(({ id }) => id !== manifest.id).flatMap(blobDigests));
  return manifest.files
    .filter((file) => isBlobFile(file) && !held.has(file.digest))
    .reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

function shownParams<Shown>(
  { params }: ModelManifest,
  show: (name: keyof ModelParams, value: unknown) => Shown,
): Record<string, Shown> {
  return Object.fromEntries(
    Object.entries(paramNames).flatMap(([asked, name]) =>
      params[name] === undefined ? [] : [[asked, show(name, params[name])]],
    ),
  );
}

function wireInput(input: ParamInput): Library['settable'][number]['input'] {
  switch (input.kind) {
    case 'number': {
      const { isWhole, ...others } = input;
      return { ...others, is_whole: isWhole };
    }
    case 'choice':
    case 'text':
    case 'document':
      return { ...input, words: [...input.words] };
    case 'lines':
      return input;
  }
}

function readSetting(name: string, text: string | null): readonly [keyof ModelParams, unknown] {
  const param = Object.hasOwn(paramNames, name) ? paramNames[name] : undefined;
  if (param === undefined) {
    const message = `There is no setting "${name.slice(0, 64)}"; the names are ${Object.keys(paramNames).join(', ')}.`;
    throw fail('unsupported_value', { param: 'settings', message });
  }
  if (text === null || text === '') return [param, null];
  if (param === 'stop') {
    const texts = splitLines(text);
    return [param, texts.length === 0 ? null : texts];
  }
  if (param === 'keepAlive') {
    if (parseDuration(text) !== undefined) return [param, text];
    throw fail('unsupported_value', {
      param: name,
      message: `${name} is not a duration; write for example 30s, 10m, 0 or -1.`,
    });
  }
  const read = readParam(param, text);
  if ('value' in read) return [param, read.value];
  throw fail('unsupported_value', { param: name, message: `${name} is not usable; write ${read.expects}.` });
}
