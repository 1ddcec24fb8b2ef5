import { useState } from 'preact/hooks';
import type { ForeignModels } from '../../src/wire/operation/library.ts';
import { useAsked } from '../parts/asked.ts';
import { Failure } from '../parts/failure.tsx';
import { bytes } from '../parts/figures.ts';
import { sentenceOf } from '../service/client.ts';
import { ChangeList } from './change-list.tsx';
import { begin } from './long-change.ts';
import { FromHub } from './from-hub.tsx';
import { foreignModels } from './models-state.ts';

/** Where changes of this part of the page are shown. */
const PLACES = { file: 'from a file', others: 'from other programs' } as const;

export function AddModels() {
  return (
    <section class="add" aria-label="Install a model">
      <h2>Add a model</h2>
      <div class="two">
        <FromHub />
        <div class="stack">
          <FromFile />
          <FromOthers />
        </div>
      </div>
    </section>
  );
}

function FromFile() {
  const [path, setPath] = useState('');
  const [isCopied, setCopied] = useState(false);
  return (
    <form
      class="sheet"
      onSubmit={(event) => {
        event.preventDefault();
        void begin({
          place: PLACES.file,
          title: `Installing ${path}`,
          path: '/svc/models/import',
          body: { path, copy: isCopied },
        });
      }}
    >
      <h3>From a file</h3>
      <label class="labelled">
        <span>Path on the machine that runs the service</span>
        <input
          value={path}
          required
          spellcheck={false}
          placeholder="/home/you/models/model.gguf"
          onInput={({ currentTarget }) => setPath(currentTarget.value)}
        />
      </label>
      <label class="inline">
        <input
          type="checkbox"
          checked={isCopied}
          onChange={({ currentTarget }) => setCopied(currentTarget.checked)}
        />
        <span>Copy it (otherwise it is used in place)</span>
      </label>
      <button type="submit" class="small">
        Install
      </button>
      <ChangeList place={PLACES.file} />
    </form>
  );
}

function FromOthers() {
  const [asked, ask] = useAsked<null, ForeignModels>();
  const { value: found, error } = asked ?? {};
  return (
    <section class="sheet" aria-label="From other programs">
      <h3>From other programs</h3>
      <button type="button" class="small" onClick={() => ask(null, foreignModels)}>
        Find their models
      </button>
      <Failure text={error === undefined ? null : sentenceOf(error)} />
      {found?.data.length === 0 ? <p class="hint">No models of other programs were found.</p> : null}
      <ul class="holders">
        {(found?.data ?? []).map(({ store, id, path, size_bytes: size }) => (
          <li key={`${store} ${path}`}>
            <strong>{id}</strong>
            <span>{store}</span>
            <span>{size === undefined ? '' : bytes(size)}</span>
            <button
              type="button"
              class="small"
              onClick={() =>
                void begin({
                  place: PLACES.others,
                  title: `Installing ${id}`,
                  path: '/svc/models/import',
                  body: { path: id, store },
                })
              }
            >
              Install
            </button>
          </li>
        ))}
        {(found?.problems ?? []).map(({ path, reason }) => (
          <li key={path}>
            {path}: {reason}
          </li>
        ))}
      </ul>
      <ChangeList place={PLACES.others} />
    </section>
  );
}
