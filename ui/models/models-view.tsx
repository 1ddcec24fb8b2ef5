import { useEffect } from 'preact/hooks';
import { identity, models } from '../service/known.ts';
import { ModelRow } from './model-row.tsx';
import { refresh } from './models-state.ts';

/** What is installed here, and what of it is in memory. */
export function ModelsView() {
  useEffect(() => void refresh(), []);
  const sorted = models.value.toSorted(
    (a, b) => Number(isDefault(b.id)) - Number(isDefault(a.id)) || a.id.localeCompare(b.id),
  );
  return (
    <div class="view models">
      <header class="view-head">
        <h1>Models</h1>
        <p>What is installed on the machine that runs the service, and what of it is in memory now.</p>
      </header>
      <ul class="model-list">
        {sorted.map((model) => (
          <ModelRow key={model.id} model={model} isDefault={isDefault(model.id)} />
        ))}
      </ul>
      {sorted.length === 0 ? <p class="hint">Nothing is installed. In a terminal: hearth pull REF</p> : null}
    </div>
  );
}

const isDefault = (id: string): boolean => identity.value?.default_model === id;
