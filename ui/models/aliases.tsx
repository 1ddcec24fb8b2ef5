import { useState } from 'preact/hooks';
import { Failure } from '../parts/failure.tsx';
import { addAlias, aliasPlace, faults, pending, removeAlias } from './models-state.ts';
import type { LibraryModel } from './words/base-model.ts';

export function Aliases({ model: { id, aliases = [] } }: { model: LibraryModel }) {
  const [alias, setAlias] = useState('');
  const place = aliasPlace(id);
  const fault = faults.value[place];
  return (
    <form
      class="actions aliases"
      onSubmit={(event) => {
        event.preventDefault();
        // A name that was refused stays in its field, to be mended, and so does one that was typed meanwhile.
        void addAlias(id, alias).then(() => {
          if (faults.value[place] === undefined) setAlias((now) => (now === alias ? '' : now));
        });
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
      <button type="submit" class="small" disabled={pending.value.has(place)}>
        Add
      </button>
      <Failure text={fault} />
    </form>
  );
}
