import type { EngineState } from '../../src/wire/operation/engine-state.ts';
import type { RequestView } from '../../src/wire/operation/requests.ts';
import { bytes, count, milliseconds, percent, plural } from '../parts/figures.ts';
import { promptOrigins } from './reading/prompts.ts';
import { cacheReading, type TierReading } from './reading/tiers.ts';

export function CacheView({ state, last }: { state: EngineState; last: readonly RequestView[] }) {
  const { tiers, restores, restoreMs, evictions } = cacheReading(state);
  return (
    <section class="sheet prompt-cache" aria-label="Prompt cache">
      <h2>Prompt cache</h2>
      <Origins last={last} />
      {tiers.length === 0 ? <p class="hint">No prompt state is kept outside the slots.</p> : null}
      <ul class="holders">
        {tiers.map((tier) => (
          <Tier key={tier.name} tier={tier} />
        ))}
      </ul>
      {restores + evictions === 0 ? null : (
        <p class="hint">
          {[
            ...(restores === 0
              ? []
              : [`${plural(restores, 'state')} restored in ${milliseconds(restoreMs)}`]),
            ...(evictions === 0 ? [] : [`${count(evictions)} evicted`]),
          ].join(', ')}
        </p>
      )}
    </section>
  );
}

const ORIGINS = [
  ['from slots', 'slot', 'cached'],
  ['from memory', 'ram', 'from-ram'],
  ['from disk', 'disk', 'from-disk'],
  ['newly computed', 'evaluated', 'prefilled'],
] as const;

function Origins({ last }: { last: readonly RequestView[] }) {
  const origins = promptOrigins(last);
  const all = origins.slot + origins.ram + origins.disk + origins.evaluated;
  if (all === 0) return <p class="hint">No prompts yet.</p>;
  const parts = ORIGINS.map(([words, name, style]) => ({ words, style, share: origins[name] / all }));
  return (
    <div class="origins">
      <div
        class="memory-bar"
        role="img"
        aria-label={parts.map(({ words, share }) => `${words} ${percent(share)}`).join(', ')}
      >
        {parts.map(({ style, share }) => (
          <i key={style} class={style} style={{ width: `${100 * share}%` }} />
        ))}
      </div>
      <ul class="memory-key">
        {parts
          .filter(({ share }) => share > 0)
          .map(({ words, style, share }) => (
            <li key={style} class={style}>
              <span>{words}</span> {percent(share)}
            </li>
          ))}
      </ul>
    </div>
  );
}

function Tier({ tier: { name, bytes: held, limitBytes, tokens } }: { tier: TierReading }) {
  return (
    <li>
      <strong>{name}</strong>
      <span class="size">{bytes(held)}</span>
      <span class="meter" role="img" aria-label={`${bytes(held)} of ${bytes(limitBytes)} in use`}>
        <i style={{ width: `${Math.min(100, (100 * held) / Math.max(1, limitBytes))}%` }} />
      </span>
      <span class="note">
        {plural(tokens, 'token')}, limit {bytes(limitBytes)}
      </span>
    </li>
  );
}
