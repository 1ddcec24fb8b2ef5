import { Square } from 'lucide';
import { count, percent } from '../parts/figures.ts';
import { IconButton } from '../parts/icon.tsx';
import type { Search } from './talk/searching.ts';

export function SearchLine({ search: { name, done, all, abort } }: { search: Search }) {
  return (
    <div class="searching">
      <p class="hint" role="status">
        Searching {name}, {percent(all === 0 ? 1 : done / all)} of {count(all)} passages
      </p>
      <progress value={done} max={all} aria-label={`Searching ${name}`} />
      <IconButton icon={Square} name="Stop the search" words="Stop" onClick={() => abort.abort()} />
    </div>
  );
}
