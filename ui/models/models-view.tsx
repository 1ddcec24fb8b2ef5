import { Download } from 'lucide';
import { useEffect } from 'preact/hooks';
import { Failure } from '../parts/failure.tsx';
import { useRecovery } from '../service/use-recovery.ts';
import { Icon } from '../parts/icon.tsx';
import { engineState, watchEngine } from '../service/engine-feed.ts';
import { AddModels } from './add-models.tsx';
import { HUB_FIELD } from './from-hub.tsx';
import { OtherEngines } from './other-engines.tsx';
import { ModelRow } from './model-row.tsx';
import { RemoveButton } from './remove-button.tsx';
import { faults, library, libraryRefusal, pending, refresh, restore } from './models-state.ts';

export function ModelsView() {
  useEffect(watchEngine, []);
  // Loads and unloads are shown as they happen.
  const residents = Object.entries(engineState.value?.models ?? {}).map(
    ([id, { state }]) => `${id} ${state}`,
  );
  useRecovery(() => void refresh(), residents.join('\n'));
  const known = library.value;
  const defaults = [known?.defaults.chat, known?.defaults.embedding];
  const sorted = (known?.models ?? []).toSorted(
    (a, b) =>
      a.kind.localeCompare(b.kind) ||
      Number(defaults.includes(b.id)) - Number(defaults.includes(a.id)) ||
      a.id.localeCompare(b.id),
  );
  return (
    <div class="view models">
      <header class="view-head">
        <h1>Models</h1>
        <p>Models on the machine that runs the service, and which of them are in memory now.</p>
        {known === null ? null : (
          <button type="button" class="main" onClick={toAdding}>
            <Icon of={Download} />
            Add a model
          </button>
        )}
      </header>
      <Failure text={libraryRefusal.value} />
      <ul class="model-list">
        {sorted.map((model) => (
          <ModelRow key={model.id} model={model} isDefault={defaults.includes(model.id)} />
        ))}
        {(known?.damaged ?? []).map(({ id, reason }) => (
          <li key={id} class="model">
            <h2>{id}</h2>
            <p class="failure">{reason}</p>
            <RemoveButton id={id} question="Remove what is left of it?" />
          </li>
        ))}
        {(known?.restorable ?? []).map((id) => (
          <Removed key={id} id={id} />
        ))}
      </ul>
      <OtherEngines />
      {known === null ? null : <AddModels />}
    </div>
  );
}

const toAdding = (): void => {
  const field = document.getElementById(HUB_FIELD);
  field?.scrollIntoView({ block: 'center' });
  field?.focus({ preventScroll: true });
};

function Removed({ id }: { id: string }) {
  const fault = faults.value[id];
  return (
    <li class="model removed">
      <div class="names">
        <h2>{id}</h2>
        <p class="tags">
          <span class="tag">removed</span>
        </p>
      </div>
      <div class="actions">
        <p class="facts">Ships with Hearth; nothing has to be downloaded to bring it back.</p>
        <button type="button" class="small" disabled={pending.value.has(id)} onClick={() => void restore(id)}>
          Restore {id}
        </button>
      </div>
      <Failure text={fault} />
    </li>
  );
}
