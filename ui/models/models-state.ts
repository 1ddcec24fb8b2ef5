/** ui/models owns the view of what is installed and loaded. It does not know how models run. This file: what is known. */
import { signal } from '@preact/signals';
import type { ForeignModels, Library, LoadPlan, Quants } from '../../src/wire/operation/library.ts';
import type { ResidencyList } from '../../src/wire/residency.ts';
import { askJson, sentenceOf, type ServicePath } from '../service/client.ts';
import { refreshAll } from '../service/known.ts';
import { askAsPage } from '../service/page-token.ts';

export type Loaded = ResidencyList['data'][number];
export type LibraryModel = Library['models'][number];

export const library = signal<Library | null>(null);
export const loaded = signal<readonly Loaded[]>([]);
export const plans = signal<Readonly<Record<string, LoadPlan>>>({});
/** What could not be done, by the model that it was about. */
export const faults = signal<Readonly<Record<string, string>>>({});
/** What a change had to say, by the same. */
export const notes = signal<Readonly<Record<string, string>>>({});
/** The models about which something is being done. */
export const pending = signal<ReadonlySet<string>>(new Set());

export async function refresh(): Promise<void> {
  const load = async () => {
    loaded.value = (await askJson<ResidencyList>('/svc/residency')).data;
  };
  const read = async () => {
    library.value = await askJson<Library>('/svc/models');
  };
  await Promise.allSettled([load(), read(), refreshAll()]);
}

/** Does something about a model; a refusal is kept beside the model that it is about. */
export async function act(
  model: string,
  work: () => Promise<{ readonly note?: string } | void>,
): Promise<void> {
  const { [model]: _, ...others } = faults.value;
  const { [model]: __, ...otherNotes } = notes.value;
  faults.value = others;
  notes.value = otherNotes;
  pending.value = new Set([...pending.value, model]);
  try {
    const said = await work();
    if (said?.note !== undefined) notes.value = { ...notes.value, [model]: said.note };
  } catch (error) {
    faults.value = { ...faults.value, [model]: sentenceOf(error) };
  }
  pending.value = new Set([...pending.value].filter((each) => each !== model));
  await refresh();
}

const change = (model: string, path: ServicePath, body: object): Promise<void> =>
  act(model, async () => (await askAsPage(path, { body })).json() as Promise<{ note?: string }>);

export const unload = (model: string): Promise<void> => change(model, '/svc/unload', { model });
export const makeDefault = (model: string): Promise<void> => change(model, '/svc/models/default', { model });
export const remove = (model: string): Promise<void> => change(model, '/svc/models/remove', { model });
export const addAlias = (model: string, alias: string): Promise<void> =>
  change(model, '/svc/models/alias', { model, alias });
/** An alias is removed as a model is; the model that it meant stays. */
export const removeAlias = (model: string, alias: string): Promise<void> =>
  change(model, '/svc/models/remove', { model: alias });
/** An empty value removes the setting. */
export const setOne = (model: string, name: string, value: string): Promise<void> =>
  change(model, '/svc/models/settings', { model, settings: { [name]: value === '' ? null : value } });

/** What a request for the model would find now. */
export const plan = (model: string): Promise<void> =>
  act(model, async () => {
    const found = await askJson<LoadPlan>(`/svc/models/plan?model=${encodeURIComponent(model)}`);
    plans.value = { ...plans.value, [model]: found };
  });

export const quantsOf = async (ref: string): Promise<Quants> =>
  (await askAsPage(`/svc/models/quants?ref=${encodeURIComponent(ref)}`)).json() as Promise<Quants>;

export const foreignModels = async (): Promise<ForeignModels> =>
  (await askAsPage('/svc/models/foreign')).json() as Promise<ForeignModels>;
