import { Download, Search } from 'lucide';
import { useState } from 'preact/hooks';
import type { FoundModels, Quants } from '../../src/wire/operation/library.ts';
import { useAsked } from '../parts/asked.ts';
import { Failure } from '../parts/failure.tsx';
import { bytes, count } from '../parts/figures.ts';
import { Icon, IconButton } from '../parts/icon.tsx';
import { sentenceOf } from '../service/client.ts';
import { ChangeList } from './change-list.tsx';
import { begin } from './long-change.ts';
import { library, listQuants, searchHub } from './models-state.ts';
import { quantFit } from './words/fit.ts';

export const HUB_FIELD = 'find-model';
const PLACE = 'from the hub';

/** For who does not know what to look for: a small one, one that reads images, a larger one, and one for vectors. */
const SUGGESTED = [
  ['Qwen/Qwen3-4B-GGUF', 'all-round, 4 billion parameters'],
  ['ggml-org/gemma-3-4b-it-GGUF', 'reads images, 4 billion parameters'],
  ['ggml-org/gpt-oss-20b-GGUF', 'reasons and uses tools, 20 billion parameters'],
  ['Qwen/Qwen3-Embedding-0.6B-GGUF', 'embeddings'],
] as const;

type Shown =
  | { readonly kind: 'found'; readonly words: string; readonly data: FoundModels['data'] }
  | { readonly kind: 'quants'; readonly quants: Quants };

export function FromHub() {
  const [wanted, setWanted] = useState('');
  const [asked, ask] = useAsked<string, Shown>();
  const { isBusy = false, value: shown = null, error } = asked ?? {};
  const open = (ref: string) => {
    setWanted(ref);
    ask(ref, async () => ({ kind: 'quants', quants: await listQuants(ref) }));
  };
  const look = () => {
    const words = wanted.trim();
    if (isReference(words)) open(words);
    else ask(words, async () => ({ kind: 'found', words, data: await searchHub(words) }));
  };
  return (
    <form
      class="sheet"
      onSubmit={(event) => {
        event.preventDefault();
        look();
      }}
    >
      <h3>Download from the hub</h3>
      <label class="labelled">
        <span>Find a model</span>
        <input
          id={HUB_FIELD}
          type="search"
          value={wanted}
          required
          maxLength={200}
          spellcheck={false}
          placeholder="qwen3 4b, or owner/name"
          onInput={({ currentTarget }) => setWanted(currentTarget.value)}
        />
        <small>Words, the name of a repository, or the address of a .gguf file.</small>
      </label>
      <div class="actions">
        <button type="submit" class="main" disabled={isBusy}>
          <Icon of={Search} />
          {isBusy ? 'Looking…' : 'Search'}
        </button>
      </div>
      <Failure text={error === undefined ? null : sentenceOf(error)} />
      {shown === null ? <Suggestions onOpen={open} /> : null}
      {shown?.kind === 'found' ? <FoundList found={shown} onOpen={open} /> : null}
      {shown?.kind === 'quants' ? <QuantList found={shown.quants} /> : null}
      <ChangeList place={PLACE} />
    </form>
  );
}

/** A name with its owner, or an address. */
const isReference = (text: string): boolean => /^(?:hf:|https?:)|^[\w.-]+\/[\w.-]+(?:[:@/].*)?$/.test(text);

function pull(ref: string): void {
  void begin({ place: PLACE, title: `Downloading ${ref}`, path: '/svc/models/pull', body: { ref } });
}

function Suggestions({ onOpen }: { onOpen: (ref: string) => void }) {
  const here = new Set((library.value?.models ?? []).map(({ id }) => id.split(':')[0]?.toLowerCase()));
  const rest = SUGGESTED.filter(([repo]) => !here.has(repo.toLowerCase()));
  return (
    <ul class="holders" aria-label="Suggestions">
      {rest.map(([repo, words]) => (
        <li key={repo}>
          <strong>{repo}</strong>
          <span>{words}</span>
          <Sizes repo={repo} onOpen={onOpen} />
        </li>
      ))}
    </ul>
  );
}

const Sizes = ({ repo, onOpen }: { repo: string; onOpen: (ref: string) => void }) => (
  <button type="button" class="small" onClick={() => onOpen(repo)}>
    Sizes<span class="unseen"> of {repo}</span>
  </button>
);

function FoundList({
  found: { words, data },
  onOpen,
}: {
  found: Shown & { kind: 'found' };
  onOpen: (ref: string) => void;
}) {
  if (data.length === 0) return <p class="hint">The hub has no models for "{words}". Try fewer words.</p>;
  return (
    <ul class="holders" aria-label="Found on the hub">
      {data.map(({ repo, downloads, likes, gated }) => (
        <li key={repo}>
          <strong>{repo}</strong>
          <span>
            {count(downloads)} downloads, {count(likes)} likes
            {gated ? ', its terms have to be accepted on the hub' : ''}
          </span>
          <Sizes repo={repo} onOpen={onOpen} />
        </li>
      ))}
    </ul>
  );
}

function QuantList({ found }: { found: Quants }) {
  return (
    <>
      <p class="hint">
        The sizes of {found.repo}. A smaller one is faster and takes less memory; below Q4 answers suffer.
      </p>
      <ul class="holders" aria-label={`Sizes of ${found.repo}`}>
        {found.data.map((quant) => {
          const { label, size_bytes: size } = quant;
          const { isGood, words } = quantFit(quant, found.free_bytes);
          return (
            <li key={label}>
              <strong>{label}</strong>
              {label === found.advised ? <span class="tag strong">recommended</span> : null}
              <span class={isGood ? undefined : 'too-large'}>{words}</span>
              <IconButton
                icon={Download}
                name={`Download ${label}`}
                words={bytes(size)}
                onClick={() => pull(`hf:${found.repo}:${label}`)}
              />
            </li>
          );
        })}
      </ul>
    </>
  );
}
