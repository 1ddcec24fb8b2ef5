import { useEffect } from 'preact/hooks';
import type { ModelEntry } from '../../src/wire/models.ts';
import { count } from '../parts/figures.ts';
import { engineState, watchEngine } from '../service/engine-feed.ts';
import { isLocal, models } from '../service/known.ts';

/** Models that other services or commands run, which every menu offers as well. */
export function Elsewhere() {
  useEffect(watchEngine, []);
  const elsewhere = models.value.filter((model) => !isLocal(model));
  return (
    <section class="elsewhere" aria-label="Models elsewhere">
      <h2>Elsewhere</h2>
      <p class="hint">
        Models of other services that this one sends requests to. Add one with{' '}
        <code>hearth upstream add NAME URL</code> on the machine that runs it.
      </p>
      {elsewhere.length === 0 ? null : (
        <ul class="model-list">
          {elsewhere.map((model) => (
            <Row key={model.id} model={model} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Row({ model }: { model: ModelEntry }) {
  const { id, engine = 'remote', owned_by: owner, context_length: window, capabilities } = model;
  const upstream = engineState.value?.upstreams[owner];
  const facts = [
    `${engine} at ${owner}`,
    ...(window === undefined ? [] : [`context up to ${count(window)} tokens`]),
    ...(capabilities ?? []),
  ];
  return (
    <li class="model">
      <div class="names">
        <h3>{id}</h3>
        {upstream === undefined ? null : (
          <p class="tags">
            <span class={upstream.state === 'down' ? 'tag bad' : 'tag'}>{upstream.state}</span>
          </p>
        )}
      </div>
      <p class="facts">{facts.join(' · ')}</p>
      {upstream?.why === undefined ? null : <p class="hint">{upstream.why}</p>}
    </li>
  );
}
