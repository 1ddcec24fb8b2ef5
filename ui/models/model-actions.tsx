import { useState } from 'preact/hooks';
import { begin } from './long-change.ts';
import {
  addAlias,
  library,
  type LibraryModel,
  makeDefault,
  pending,
  plan,
  remove,
  removeAlias,
  setOne,
} from './models-state.ts';

/** What can be changed about a model; each refusal shows beside it, in the service's words. */
export function ModelActions({ model, isDefault }: { model: LibraryModel; isDefault: boolean }) {
  const { id } = model;
  const [isSure, setSure] = useState(false);
  const isBusy = pending.value.has(id);
  return (
    <div class="model-actions">
      <div class="actions">
        <button
          type="button"
          class="small"
          disabled={isBusy || isDefault}
          onClick={() => void makeDefault(id)}
        >
          Make default
        </button>
        <button type="button" class="small" disabled={isBusy} onClick={() => void plan(id)}>
          Does it fit now?
        </button>
        <button
          type="button"
          class="small"
          disabled={isBusy}
          onClick={() => void begin(`Checking the files of ${id}`, '/svc/models/verify', { model: id })}
        >
          Verify the files
        </button>
        <button
          type="button"
          class="small"
          disabled={isBusy}
          onClick={() => {
            if (isSure) void remove(id);
            setSure(!isSure);
          }}
        >
          {isSure ? 'Really remove it' : 'Remove'}
        </button>
      </div>
      <Aliases model={model} />
      <OneSetting id={id} />
    </div>
  );
}

function Aliases({ model: { id, aliases = [] } }: { model: LibraryModel }) {
  const [alias, setAlias] = useState('');
  return (
    <form
      class="actions"
      onSubmit={(event) => {
        event.preventDefault();
        void addAlias(id, alias).then(() => setAlias(''));
      }}
    >
      {aliases.map((each) => (
        <button key={each} type="button" class="small" onClick={() => void removeAlias(id, each)}>
          <span class="unseen">Remove the alias </span>
          {each} <span aria-hidden="true">×</span>
        </button>
      ))}
      <label class="inline">
        <span>Another name</span>
        <input
          value={alias}
          required
          spellcheck={false}
          onInput={({ currentTarget }) => setAlias(currentTarget.value)}
        />
      </label>
      <button type="submit" class="small">
        Add
      </button>
    </form>
  );
}

function OneSetting({ id }: { id: string }) {
  const names = library.value?.settable ?? [];
  const [name, setName] = useState('');
  const [value, setValue] = useState('');
  const chosen = name === '' ? (names[0] ?? '') : name;
  return (
    <form
      class="actions"
      onSubmit={(event) => {
        event.preventDefault();
        void setOne(id, chosen, value);
      }}
    >
      <label class="inline">
        <span>Setting</span>
        <select value={chosen} onChange={({ currentTarget }) => setName(currentTarget.value)}>
          {names.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      <label class="inline">
        <span>Value</span>
        <input
          value={value}
          placeholder="empty removes it"
          spellcheck={false}
          onInput={({ currentTarget }) => setValue(currentTarget.value)}
        />
      </label>
      <button type="submit" class="small">
        Set
      </button>
    </form>
  );
}
