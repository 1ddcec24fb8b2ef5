/**
 * store/registry owns the meaning of names in requests, and the facts of the models that they name. It knows nothing
 * of HTTP or of how a model was installed. The server and each CLI verb open their own registry over the same folder,
 * so each sees the others' changes with its next call.
 */
import { type Static, Type } from 'typebox';
import { Check } from 'typebox/value';
import type { LocalTarget } from '../../server/engine/local/model-source.ts';
import type { ModelKind } from '../../contract/load.ts';
import { pickSettings } from '../../contract/settings/shapes.ts';
import { BUILTIN_IDS } from '../../lib/errors/builtin-ids.ts';
import { fail, isFailure } from '../../lib/errors/svc-error.ts';
import { errnoCode, type StepHook } from '../../lib/files/durable.ts';
import { readText } from '../../lib/files/plain-file.ts';
import { stampNow } from '../../lib/files/stamp.ts';
import { readTemplateText } from '../../lib/gguf/inspect.ts';
import { type DamagedManifest, InstalledReader, lookUp } from '../files/installed.ts';
import {
  isBlobFile,
  isServed,
  isWithoutTemplate,
  loadedFiles,
  modelFiles,
  type ModelManifest,
  type ServedManifest,
} from '../files/manifest.ts';
import { filePath } from '../files/paths.ts';
import { type Companions, findCompanions, hasCompanions, NO_COMPANIONS } from './companions.ts';
import { FileStates } from './file-states.ts';
import {
  type Compared,
  type Differences,
  compareModels,
  type OtherTensors,
  otherTensors,
} from './differences.ts';
import { Provenance } from './provenance.ts';
import { Store } from '../files/store.ts';
import { makeTarget, type TargetOptions } from './target.ts';

export type InstalledModel = ModelManifest;

export interface RegistryOptions {
  readonly home: string;
  readonly settings?: {
    readonly defaultModel?: string | null;
    readonly embeddingModel?: string | null;
  };
  /** Called at each point that a crash can separate; for fault tests only. */
  readonly onStep?: StepHook;
}

const USES = { chat: 'chat or completions', embedding: 'embeddings' } as const;
const ALIASES = { chat: 'default', embedding: 'default-embedding' } as const;

const Defaults = Type.Object({
  schema: Type.Literal(1),
  chat: Type.Optional(Type.String()),
  embedding: Type.Optional(Type.String()),
});
type Defaults = Static<typeof Defaults>;

export class Registry {
  readonly store: Store;
  readonly provenance: Provenance;
  readonly #reader: InstalledReader;
  readonly #states = new FileStates();
  readonly #settings: NonNullable<RegistryOptions['settings']>;
  #chosen: { readonly stamp: string; readonly choice: Defaults } | undefined;

  constructor(options: RegistryOptions) {
    this.store = new Store(options.home, options.onStep);
    this.provenance = new Provenance(this.store.paths, this.#states);
    this.#reader = new InstalledReader(this.store.paths);
    this.#settings = options.settings ?? {};
  }

  async list(): Promise<readonly InstalledModel[]> {
    return (await this.#reader.read()).manifests;
  }

  /** Unusable manifests never hide the others. */
  async damaged(): Promise<readonly DamagedManifest[]> {
    return (await this.#reader.read()).damaged;
  }

  async has(name: string): Promise<boolean> {
    return lookUp(await this.#reader.read(), name) !== undefined;
  }

  async find(name: string): Promise<InstalledModel> {
    if (name === ALIASES.chat) return this.#default('chat');
    if (name === ALIASES.embedding) return this.#default('embedding');
    return this.#named(name);
  }

  async resolve(name: string, use: ModelKind): Promise<ServedManifest> {
    const model = await this.served(name);
    if (model.kind !== use) throw wrongKind(model, use);
    return model;
  }

  async served(name: string): Promise<ServedManifest> {
    const model = await this.find(name);
    if (!isServed(model)) throw notServed(model);
    return model;
  }

  async companions(model: InstalledModel): Promise<Companions> {
    return hasCompanions(model) ? findCompanions(model, await this.#reader.read()) : NO_COMPANIONS;
  }

  async modelPaths(): Promise<readonly string[]> {
    const { blobs, split } = this.store.paths;
    const models = await this.list();
    const outside = models.flatMap((model) =>
      loadedFiles(model).flatMap((file) => (isBlobFile(file) ? [] : [filePath(this.store.paths, file)])),
    );
    return [blobs, split, ...new Set(outside)];
  }

  toTarget(model: InstalledModel, options: TargetOptions = {}): LocalTarget {
    if (!isServed(model)) throw notServed(model);
    return makeTarget(this.store.paths, this.#states, model, options);
  }

  otherTensors(model: InstalledModel, reference: InstalledModel, signal: AbortSignal): Promise<OtherTensors> {
    return otherTensors(this.#weightPaths(model), this.#weightPaths(reference), signal);
  }

  differences(model: InstalledModel, reference: InstalledModel): Promise<Differences> {
    const compared = (each: InstalledModel): Compared => ({
      paths: this.#weightPaths(each),
      settings: pickSettings(each.params),
    });
    return compareModels(compared(model), compared(reference));
  }

  #weightPaths(model: InstalledModel): string[] {
    return modelFiles(model).map((file) => filePath(this.store.paths, file));
  }

  async readTemplate(model: InstalledModel): Promise<string | null> {
    const [first] = modelFiles(model);
    if (first === undefined || !model.facts.hasChatTemplate) return null;
    return readTemplateText(filePath(this.store.paths, first));
  }

  /** The id that `default` or `default-embedding` means now, or would mean without the model `without`; null: none. */
  async defaultId(kind: ModelKind, without: string | null = null): Promise<string | null> {
    const model = await this.#defaultModel(kind, without);
    return model?.id ?? null;
  }

  /** Applies to every process; the operator's settings still take precedence. */
  async setDefault(name: string): Promise<InstalledModel> {
    const model = await this.#named(name);
    if (!isServed(model)) throw notServed(model);
    await this.chooseDefault(model.kind, model.id);
    return model;
  }

  /** The name set by the operator or `hearth default`, whether it exists or not; null: none. */
  async chosenDefault(kind: ModelKind): Promise<string | null> {
    return this.#configured(kind) ?? (await this.#choice())[kind] ?? null;
  }

  async chooseDefault(kind: ModelKind, id: string): Promise<void> {
    await this.store.change(`hearth default ${id}`, async (writer) => {
      const choice: Defaults = { ...(await this.#choice()), schema: 1, [kind]: id };
      await writer.writeDefaults(`${JSON.stringify(choice, null, 2)}\n`);
    });
  }

  async forgetDefaults(): Promise<void> {
    await this.store.change('hearth default --auto', async (writer) => {
      await writer.writeDefaults(`${JSON.stringify({ schema: 1 } satisfies Defaults, null, 2)}\n`);
    });
  }

  /** Removes leftovers of dead processes at the start of a server. A read-only store stays unchanged. */
  async recover(): Promise<void> {
    try {
      await this.store.change('hearth serve', async () => {});
    } catch (error) {
      if (!isFailure(error, 'store_unwritable', 'store_busy', 'disk_full')) throw error;
    }
  }

  async #named(name: string): Promise<InstalledModel> {
    const found = lookUp(await this.#reader.read(), name);
    if (!found) throw fail('model_not_found', { model: name, param: 'model' });
    if ('damaged' in found) {
      throw fail('manifest_damaged', {
        model: found.damaged.id,
        param: 'model',
        reason: found.damaged.reason,
      });
    }
    return found.model;
  }

  async #default(kind: ModelKind): Promise<InstalledModel> {
    const configured = this.#configured(kind);
    if (configured) {
      const model = await this.#named(configured);
      if (model.kind !== kind) throw wrongKind(model, kind);
      return model;
    }
    const model = await this.#defaultModel(kind);
    if (!model) throw fail('no_default_model', { kind, builtin: BUILTIN_IDS[kind], param: 'model' });
    return model;
  }

  /**
   * Order: 1. the operator's setting; 2. the choice of `hearth default`, while it is installed; 3. the newest model
   * of that kind that the user installed and whose file has a chat template; 4. the newest built-in one; 5. the
   * newest other. A model's settings do not count, so that changing one never moves the default.
   */
  async #defaultModel(kind: ModelKind, without: string | null = null): Promise<InstalledModel | undefined> {
    // Reads both in parallel: in sequence they take a noticeable part of a short answer's time.
    const [{ manifests, damaged }, choice] = await Promise.all([this.#reader.read(), this.#choice()]);
    const installed = without === null ? manifests : manifests.filter(({ id }) => id !== without);
    const named = (name: string | null | undefined) => {
      const found = name ? lookUp({ manifests: installed, damaged }, name) : undefined;
      return found && 'model' in found && found.model.kind === kind ? found.model : undefined;
    };
    const configured = this.#configured(kind);
    if (configured) return named(configured);
    const rank = (model: InstalledModel) =>
      (isWithoutTemplate(model) ? '0' : model.source.type === 'builtin' ? '1' : '2') + model.addedAt;
    const newest = installed
      // A model that ranks makes no vectors.
      .filter((model) => model.kind === kind && model.facts.pooling !== 'rank')
      .reduce<InstalledModel | undefined>(
        (best, model) => (best === undefined || rank(model) >= rank(best) ? model : best),
        undefined,
      );
    return named(choice[kind]) ?? newest;
  }

  #configured(kind: ModelKind): string | null {
    const setting = kind === 'chat' ? this.#settings.defaultModel : this.#settings.embeddingModel;
    // `default` set to itself has no effect.
    return setting && setting !== ALIASES[kind] ? setting : null;
  }

  async #choice(): Promise<Defaults> {
    const path = this.store.paths.defaults;
    try {
      const stamp = stampNow(path);
      if (stamp === null) return { schema: 1 };
      if (this.#chosen?.stamp === stamp.text) return this.#chosen.choice;
      const value: unknown = JSON.parse((await readText(path)) ?? '{}');
      const choice: Defaults = Check(Defaults, value) ? value : { schema: 1 };
      this.#chosen = stamp.isSettled ? { stamp: stamp.text, choice } : undefined;
      return choice;
    } catch (error) {
      // Without a readable choice, the order of defaultModel applies.
      if (
        errnoCode(error) !== undefined ||
        isFailure(error, 'store_unreadable') ||
        error instanceof SyntaxError
      )
        return { schema: 1 };
      throw error;
    }
  }
}

export function openRegistry(options: RegistryOptions): Registry {
  return new Registry(options);
}

function notServed({ id }: InstalledModel): Error {
  return fail('wrong_model_kind', {
    model: id,
    param: 'model',
    kind: 'adapter',
    use: 'requests by itself',
    wanted: 'chat',
  });
}

function wrongKind(model: InstalledModel, use: ModelKind): Error {
  return fail('wrong_model_kind', {
    model: model.id,
    param: 'model',
    kind: model.kind,
    use: USES[use],
    wanted: use,
  });
}
