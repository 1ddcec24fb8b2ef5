import { Failure } from '../parts/failure.tsx';
import { bytes, clock, count, moment, plural } from '../parts/figures.ts';
import { BASE_MODEL_WORDS, isBaseModel, type LibraryModel } from './words/base-model.ts';
import { ChangeList } from './change-list.tsx';
import { Aliases } from './aliases.tsx';
import { ModelActions } from './model-actions.tsx';
import { faults, type Loaded, loaded, notes, pending, plans, unload } from './models-state.ts';
import { withCode } from './setting-field.tsx';
import { SettingsEditor } from './settings-editor.tsx';

export function ModelRow({ model, isDefault }: { model: LibraryModel; isDefault: boolean }) {
  const { id } = model;
  const inMemory = loaded.value.find((each) => each.id === id);
  const fault = faults.value[id];
  const note = notes.value[id];
  return (
    <li class="model">
      <div class="names">
        <h2>{id}</h2>
        <p class="tags">
          {isDefault ? <span class="tag warm">default</span> : null}
          <span class="tag">{isBaseModel(model) ? 'base model' : model.kind}</span>
          {model.quant === undefined ? null : <span class="tag">{model.quant}</span>}
        </p>
      </div>
      <p class="facts">{factsOf(model).join(' · ')}</p>
      {isBaseModel(model) ? <p class="hint">{withCode(BASE_MODEL_WORDS)}</p> : null}
      {inMemory === undefined ? null : <InMemory state={inMemory} isBusy={pending.value.has(id)} />}
      <ModelActions model={model} isDefault={isDefault} />
      <Planned id={id} isLoaded={inMemory !== undefined} />
      <ChangeList place={id} />
      {note === undefined ? null : <p class="hint">{note}</p>}
      <Failure text={fault} />
      <details>
        <summary>
          Details<span class="unseen"> of {id}</span>
        </summary>
        <Details model={model} />
        <Aliases model={model} />
      </details>
      {model.kind === 'adapter' ? null : (
        <details>
          <summary>
            Settings<span class="unseen"> of {id}</span>
            {Object.keys(model.texts).length === 0 ? null : ` (${Object.keys(model.texts).join(', ')})`}
          </summary>
          <SettingsEditor model={model} />
        </details>
      )}
    </li>
  );
}

function InMemory({ state, isBusy }: { state: Loaded; isBusy: boolean }) {
  const { id, memory_bytes: size, running, queued, num_ctx: window, slots, expires_at: until } = state;
  const facts = [
    `${state.state}, ${bytes(size)}`,
    ...(window === null ? [] : [`window ${count(window)}`]),
    ...(slots === null ? [] : [plural(slots, 'slot')]),
    ...(running + queued === 0 ? [] : [`${running} running, ${queued} waiting`]),
    ...(until === null ? [] : [`unloads at ${clock(Date.parse(until))}`]),
  ];
  return (
    <div class="in-memory">
      <span class="glow" aria-hidden="true" />
      <p>{facts.join(' · ')}</p>
      <button type="button" class="small" disabled={isBusy} onClick={() => void unload(id)}>
        Unload
      </button>
    </div>
  );
}

/** Whether it fits; it is there already where it is loaded. */
function Planned({ id, isLoaded }: { id: string; isLoaded: boolean }) {
  const plan = plans.value[id];
  if (plan === undefined) return null;
  const memory = Object.entries(plan.memory).map(([device, size]) => `${bytes(size)} on ${device}`);
  const needs = [
    memory.length === 0 ? 'no memory of this machine' : memory.join(', '),
    plural(plan.slots, 'slot'),
    ...(plan.num_ctx === null ? [] : [`a window of ${count(plan.num_ctx)} tokens`]),
  ].join(', ');
  const evicts =
    plan.evicts.length === 0 ? 'nothing has to be unloaded' : `unloads ${plan.evicts.join(', ')} first`;
  return (
    <p class="hint" role="status">
      {isLoaded && plan.loaded ? `It fits, and is loaded now: ${needs}.` : `It fits: ${needs}; ${evicts}.`}
    </p>
  );
}

function Details({ model }: { model: LibraryModel }) {
  const { digest, created, limits } = model;
  // Without a template it takes conversations all the same, but its answers are continued text.
  const capabilities = isBaseModel(model) ? ['completions'] : (model.capabilities ?? []);
  return (
    <dl class="pairs">
      <Pair name="owner" value={model.owned_by} />
      {created === undefined ? null : <Pair name="installed" value={moment(created * 1000)} />}
      {capabilities.length === 0 ? null : <Pair name="supports" value={capabilities.join(', ')} />}
      {limits === undefined ? null : <Pair name="limits" value={limits} />}
      {digest === undefined ? null : <Pair name="digest" value={digest} />}
    </dl>
  );
}

const Pair = ({ name, value }: { name: string; value: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
);

function factsOf(model: LibraryModel): string[] {
  const { size_bytes: size, parameter_count: weights, context_length: context, architecture } = model;
  return [
    ...(size === undefined ? [] : [bytes(size)]),
    ...(weights === undefined ? [] : [`${short(weights)} parameters`]),
    ...(context === undefined ? [] : [`context up to ${count(context)} tokens`]),
    ...(architecture === undefined ? [] : [architecture]),
  ];
}

const short = (value: number): string =>
  new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 2 }).format(value);
