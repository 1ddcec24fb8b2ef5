import { bytes, count } from '../parts/figures.ts';
import { ModelActions } from './model-actions.tsx';
import {
  faults,
  type LibraryModel,
  type Loaded,
  loaded,
  notes,
  pending,
  plans,
  unload,
} from './models-state.ts';

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
          <span class="tag">{model.kind}</span>
          {model.quant === undefined ? null : <span class="tag">{model.quant}</span>}
        </p>
      </div>
      <p class="facts">{factsOf(model).join(' · ')}</p>
      {inMemory === undefined ? (
        <Planned id={id} />
      ) : (
        <InMemory state={inMemory} isBusy={pending.value.has(id)} />
      )}
      {note === undefined ? null : <p class="hint">{note}</p>}
      {fault === undefined ? null : (
        <p class="failure" role="alert">
          {fault}
        </p>
      )}
      <details>
        <summary>
          Details<span class="unseen"> of {id}</span>
        </summary>
        <Details model={model} />
        <ModelActions model={model} isDefault={isDefault} />
      </details>
    </li>
  );
}

function InMemory({ state, isBusy }: { state: Loaded; isBusy: boolean }) {
  const { id, memory_bytes: size, running, queued, num_ctx: window, slots, expires_at: until } = state;
  const facts = [
    `${state.state}, ${bytes(size)}`,
    ...(window === null ? [] : [`window ${count(window)}`]),
    ...(slots === null ? [] : [`${slots} slots`]),
    ...(running + queued === 0 ? [] : [`${running} running, ${queued} waiting`]),
    ...(until === null ? [] : [`until ${new Date(until).toLocaleTimeString('en', { hour12: false })}`]),
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

function Planned({ id }: { id: string }) {
  const plan = plans.value[id];
  if (plan === undefined) return null;
  const memory = Object.entries(plan.memory).map(([device, size]) => `${bytes(size)} on ${device}`);
  const evicts =
    plan.evicts.length === 0 ? 'nothing would be unloaded' : `would unload ${plan.evicts.join(', ')}`;
  return <p class="hint">{`A load would take ${memory.join(', ')} for ${plan.slots} slots; ${evicts}.`}</p>;
}

function Details({ model }: { model: LibraryModel }) {
  const { digest, capabilities = [], created, params } = model;
  return (
    <dl class="pairs">
      <Pair name="owner" value={model.owned_by} />
      {created === undefined ? null : (
        <Pair name="installed" value={new Date(created * 1000).toLocaleString('en')} />
      )}
      {capabilities.length === 0 ? null : <Pair name="can" value={capabilities.join(', ')} />}
      {digest === undefined ? null : <Pair name="digest" value={digest} />}
      {Object.entries(params).map(([name, value]) => (
        <Pair key={name} name={name} value={typeof value === 'string' ? value : JSON.stringify(value)} />
      ))}
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
    ...(weights === undefined ? [] : [`${short(weights)} weights`]),
    ...(context === undefined ? [] : [`trained for ${count(context)} tokens`]),
    ...(architecture === undefined ? [] : [architecture]),
  ];
}

const short = (value: number): string =>
  new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 2 }).format(value);
