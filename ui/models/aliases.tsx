import { useState } from 'preact/hooks';
import { addAlias, type LibraryModel, removeAlias } from './models-state.ts';

/** Further names of a model, and the way to give it another. */
export function Aliases({ model: { id, aliases = [] } }: { model: LibraryModel }) {
  const [alias, setAlias] = useState('');
  return (
    <form
      class="actions aliases"
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
        <span>Alias</span>
        <input
          value={alias}
          required
          spellcheck={false}
          placeholder="another name for it"
          onInput={({ currentTarget }) => setAlias(currentTarget.value)}
        />
      </label>
      <button type="submit" class="small">
        Add
      </button>
    </form>
  );
}
