import { useEffect } from 'preact/hooks';
import { AddModels } from './add-models.tsx';
import { ChangeList } from './change-list.tsx';
import { ModelRow } from './model-row.tsx';
import { library, refresh } from './models-state.ts';

/** What is installed here, what of it is in memory, and ways to install more. */
export function ModelsView() {
  useEffect(() => void refresh(), []);
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
        <p>What is installed on the machine that runs the service, and what of it is in memory now.</p>
      </header>
      <ChangeList />
      <ul class="model-list">
        {sorted.map((model) => (
          <ModelRow key={model.id} model={model} isDefault={defaults.includes(model.id)} />
        ))}
        {(known?.damaged ?? []).map(({ id, reason }) => (
          <li key={id} class="model">
            <h2>{id}</h2>
            <p class="failure">{reason}</p>
          </li>
        ))}
      </ul>
      <AddModels />
    </div>
  );
}
