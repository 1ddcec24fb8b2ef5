/** ui/models owns the view of what is installed and loaded. It does not know how models run. This file: what is known. */
import { signal } from '@preact/signals';
import type {
  Changed,
  ForeignModels,
  FoundModels,
  Library,
  LoadPlan,
  ModelEval,
  Quants,
} from '../../src/wire/operation/library.ts';
import type { Passport } from '../../src/wire/operation/passport.ts';
import type { ResidencyList } from '../../src/wire/residency.ts';
import { ask, askJson, sentenceOf, type ServicePath } from '../service/client.ts';
import { refreshAll } from '../service/known.ts';
import { askAsPage } from '../service/page-token.ts';

export type Loaded = ResidencyList['data'][number];

export const library = signal<Library | null>(null);
export const libraryRefusal = signal<string | null>(null);
export const loaded = signal<readonly Loaded[]>([]);
export const plans = signal<Readonly<Record<string, LoadPlan>>>({});
/** What could not be done, by the place on the page where it was asked for: a model, or its settings. */
export const faults = signal<Readonly<Record<string, string>>>({});
/** What a change had to say, by the same. */
export const notes = signal<Readonly<Record<string, string>>>({});
/** The models about which something is being done. */
export const pending = signal<ReadonlySet<string>>(new Set());

export const loading = signal<ReadonlySet<string>>(new Set());

/** Plans of further models are not fetched. */
const MOST_PLANS = 40;
let refreshes = 0;

/** Asks what is installed and loaded. An answer that a later question has overtaken is not shown. */
export async function refresh(): Promise<void> {
  refreshes += 1;
  const number = refreshes;
  const latest =
    <Value>(show: (value: Value) => void) =>
    (value: Value): void => {
      if (number === refreshes) show(value);
    };
  await Promise.allSettled([
    askJson<ResidencyList>('/svc/residency').then(latest(({ data }) => (loaded.value = data))),
    askJson<Library>('/svc/models').then(
      latest((value) => {
        library.value = value;
        libraryRefusal.value = null;
        void fetchPlans(value).then(latest((found) => (plans.value = found)));
      }),
      latest((error: unknown) => (libraryRefusal.value = sentenceOf(error))),
    ),
    refreshAll(),
  ]);
}

/** Does something about a model; a refusal is kept for the place where it was asked for. */
async function act(place: string, work: () => Promise<{ readonly note?: string } | void>): Promise<void> {
  const { [place]: _, ...others } = faults.value;
  const { [place]: __, ...otherNotes } = notes.value;
  faults.value = others;
  notes.value = otherNotes;
  pending.value = new Set([...pending.value, place]);
  try {
    const said = await work();
    if (said?.note !== undefined) notes.value = { ...notes.value, [place]: said.note };
  } catch (error) {
    faults.value = { ...faults.value, [place]: sentenceOf(error) };
  }
  pending.value = new Set([...pending.value].filter((each) => each !== place));
  await refresh();
}

const change = (place: string, path: ServicePath, body: object): Promise<void> =>
  act(place, async () => (await askAsPage(path, { body })).json() as Promise<{ note?: string }>);

export const unload = (model: string): Promise<void> => change(model, '/svc/unload', { model });
export const makeDefault = (model: string): Promise<void> => change(model, '/svc/models/default', { model });
export const remove = (model: string): Promise<void> => change(model, '/svc/models/remove', { model });
export const aliasPlace = (model: string): string => `alias ${model}`;
export const addAlias = (model: string, alias: string): Promise<void> =>
  act(aliasPlace(model), async () => void (await askAsPage('/svc/models/alias', { body: { model, alias } })));
/** An alias is removed as a model is; the model that it meant stays. */
export const removeAlias = (model: string, alias: string): Promise<void> =>
  change(model, '/svc/models/remove', { model: alias });
export const restore = (model: string): Promise<void> => change(model, '/svc/models/restore', { model });

export const settingsPlace = (model: string): string => `settings ${model}`;
/** An empty value removes a setting. */
export const setAll = (model: string, texts: Readonly<Record<string, string>>): Promise<void> => {
  const settings = Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, text === '' ? null : text]),
  );
  return act(settingsPlace(model), async () => {
    const { num_ctx: window, note } = await saved(model, settings);
    // What is saved is what holds, so that the field shows it.
    if (window !== undefined) await saved(model, { num_ctx: String(window) });
    return { note: note === undefined ? 'Saved.' : `Saved. ${note}` };
  });
};

async function saved(model: string, settings: Readonly<Record<string, string | null>>): Promise<Changed> {
  const response = await askAsPage('/svc/models/settings', { body: { model, settings } });
  return (await response.json()) as Changed;
}

/** Memory that a load of each model would take now; models that cannot be planned are left out. */
async function fetchPlans({ models }: Library): Promise<Readonly<Record<string, LoadPlan>>> {
  const planned = models.filter(({ kind }) => kind !== 'adapter').slice(0, MOST_PLANS);
  const found = await Promise.allSettled(
    planned.map(({ id }) => askJson<LoadPlan>(`/svc/models/plan?model=${encodeURIComponent(id)}`)),
  );
  return Object.fromEntries(
    found.flatMap((each, at) => (each.status === 'fulfilled' ? [[planned[at]?.id ?? '', each.value]] : [])),
  );
}

/** Last evaluations of models whose details were opened; null: not measured. */
export const evals = signal<Readonly<Record<string, ModelEval['eval']>>>({});

/** The details do without it if it cannot be read. */
export async function readEval(model: string): Promise<void> {
  const found = await askJson<ModelEval>(`/svc/models/eval?model=${encodeURIComponent(model)}`).catch(
    () => null,
  );
  if (found !== null) evals.value = { ...evals.value, [model]: found.eval };
}

export const passports = signal<Readonly<Record<string, Passport>>>({});

export const passportPlace = (model: string): string => `passport ${model}`;
/** As the page of the user that runs the service, who may see paths. */
export async function readPassport(model: string): Promise<void> {
  const place = passportPlace(model);
  try {
    const response = await askAsPage(`/svc/models/passport?model=${encodeURIComponent(model)}`);
    passports.value = { ...passports.value, [model]: (await response.json()) as Passport };
    const { [place]: _, ...others } = faults.value;
    faults.value = others;
  } catch (error) {
    faults.value = { ...faults.value, [place]: sentenceOf(error) };
  }
}

export const load = (model: string, kind: string): Promise<void> =>
  act(model, async () => {
    const isChat = kind === 'chat';
    loading.value = new Set([...loading.value, model]);
    try {
      await ask(isChat ? '/api/generate' : '/api/embed', { body: isChat ? { model } : { model, input: '' } });
    } finally {
      loading.value = new Set([...loading.value].filter((each) => each !== model));
    }
  });

export const searchHub = async (words: string): Promise<FoundModels['data']> => {
  const response = await askAsPage(`/svc/models/search?words=${encodeURIComponent(words)}`);
  return ((await response.json()) as FoundModels).data;
};

export const listQuants = async (ref: string): Promise<Quants> =>
  (await askAsPage(`/svc/models/quants?ref=${encodeURIComponent(ref)}`)).json() as Promise<Quants>;

export const foreignModels = async (): Promise<ForeignModels> =>
  (await askAsPage('/svc/models/foreign')).json() as Promise<ForeignModels>;
