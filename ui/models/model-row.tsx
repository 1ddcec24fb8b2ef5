import type { ModelEntry } from '../../src/wire/models.ts';
import { bytes, count } from '../parts/figures.ts';
import { faults, type Loaded, loaded, pending, unload } from './models-state.ts';

export function ModelRow({ model, isDefault }: { model: ModelEntry; isDefault: boolean }) {
  const { id } = model;
  const inMemory = loaded.value.find((each) => each.id === id);
  const fault = faults.value[id];
  return (
    <li class="model">
      <div class="names">
        <h2>{id}</h2>
        <p class="tags">
          {isDefault ? <span class="tag warm">default</span> : null}
          {model.kind === undefined ? null : <span class="tag">{model.kind}</span>}
          {model.quant === undefined ? null : <span class="tag">{model.quant}</span>}
          {(model.aliases ?? []).map((alias) => (
            <span key={alias} class="tag">
              {alias}
            </span>
          ))}
        </p>
      </div>
      <p class="facts">{factsOf(model).join(' · ')}</p>
      {inMemory === undefined ? null : <InMemory state={inMemory} isBusy={pending.value.has(id)} />}
      {fault === undefined ? null : (
        <p class="failure" role="alert">
          {fault}
        </p>
      )}
      <Details model={model} />
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

function Details({ model }: { model: ModelEntry }) {
  const { digest, settings, capabilities = [], created } = model;
  return (
    <details>
      <summary>Details</summary>
      <dl class="pairs">
        <Pair name="owner" value={model.owned_by} />
        {created === undefined ? null : (
          <Pair name="installed" value={new Date(created * 1000).toLocaleString('en')} />
        )}
        {capabilities.length === 0 ? null : <Pair name="can" value={capabilities.join(', ')} />}
        {digest === undefined ? null : <Pair name="digest" value={digest} />}
        {settings === undefined ? null : <Pair name="settings" value={JSON.stringify(settings)} />}
      </dl>
    </details>
  );
}

const Pair = ({ name, value }: { name: string; value: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
);

function factsOf({
  size_bytes: size,
  parameter_count: weights,
  context_length: context,
  architecture,
}: ModelEntry): string[] {
  return [
    ...(size === undefined ? [] : [bytes(size)]),
    ...(weights === undefined ? [] : [`${short(weights)} weights`]),
    ...(context === undefined ? [] : [`trained for ${count(context)} tokens`]),
    ...(architecture === undefined ? [] : [architecture]),
  ];
}

const short = (value: number): string =>
  new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 2 }).format(value);
