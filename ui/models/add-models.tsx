import { useState } from 'preact/hooks';
import type { ForeignModels, Quants } from '../../src/wire/operation/library.ts';
import { Failure } from '../parts/failure.tsx';
import { bytes } from '../parts/figures.ts';
import { sentenceOf } from '../service/client.ts';
import { ChangeList } from './change-list.tsx';
import { begin } from './long-change.ts';
import { foreignModels, quantsOf } from './models-state.ts';

/** Where changes of this part of the page are shown. */
const PLACES = { hub: 'from the hub', file: 'from a file', others: 'from other programs' } as const;

/** Three ways to another model: from the hub, from a file, from another program's store. */
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

function FromHub() {
  const [wanted, setWanted] = useState('');
  const [found, setFound] = useState<Quants | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const look = async () => {
    setFound(null);
    setFault(null);
    try {
      setFound(await quantsOf(wanted));
    } catch (error) {
      setFault(sentenceOf(error));
    }
  };
  const pull = (ref: string) =>
    void begin({ place: PLACES.hub, title: `Pulling ${ref}`, path: '/svc/models/pull', body: { ref } });
  return (
    <form
      class="sheet"
      onSubmit={(event) => {
        event.preventDefault();
        void look();
      }}
    >
      <h3>From the hub</h3>
      <label class="labelled">
        <span>Repository</span>
        <input
          value={wanted}
          required
          spellcheck={false}
          placeholder="hf:Qwen/Qwen3-4B-GGUF"
          onInput={({ currentTarget }) => setWanted(currentTarget.value)}
        />
        <small>Add :QUANT to choose one yourself, or enter the address of a .gguf file.</small>
      </label>
      <div class="actions">
        <button type="submit" class="small">
          See what fits
        </button>
        <button type="button" class="main small" disabled={wanted.trim() === ''} onClick={() => pull(wanted)}>
          Pull
        </button>
      </div>
      <Failure text={fault} />
      {found === null ? null : (
        <QuantList found={found} onPull={(label) => pull(`hf:${found.repo}:${label}`)} />
      )}
      <ChangeList place={PLACES.hub} />
    </form>
  );
}

function QuantList({ found, onPull }: { found: Quants; onPull: (label: string) => void }) {
  return (
    <ul class="holders">
      {found.data.map(({ label, size_bytes: size, least_bytes: least, fits }) => (
        <li key={label}>
          <strong>{label}</strong>
          {label === found.advised ? <span class="tag warm">recommended</span> : null}
          <span>{bytes(size)} to download</span>
          <span>
            {fits ? 'fits' : 'does not fit'}: needs {bytes(least)} plus its context, of{' '}
            {bytes(found.free_bytes)} free
          </span>
          <button type="button" class="small" onClick={() => onPull(label)}>
            Pull
          </button>
        </li>
      ))}
    </ul>
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
  const [found, setFound] = useState<ForeignModels | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const look = () => {
    setFault(null);
    foreignModels().then(setFound, (error: unknown) => setFault(sentenceOf(error)));
  };
  return (
    <section class="sheet" aria-label="From other programs">
      <h3>From other programs</h3>
      <button type="button" class="small" onClick={look}>
        Find their models
      </button>
      <Failure text={fault} />
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
