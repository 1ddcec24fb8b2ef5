import type { ModelEntry } from '../../src/wire/models.ts';
import { count } from '../parts/figures.ts';
import { engineState } from '../service/engine-feed.ts';
import { isLocal, models } from '../service/known.ts';
import { ChatButton } from './model-actions.tsx';
import { Abilities } from './model-row.tsx';

/** Models that other services or commands run, which every menu offers as well. */
export function OtherEngines() {
  const remote = models.value.filter((model) => !isLocal(model));
  return (
    <section class="elsewhere" aria-label="Models of other engines">
      <h2>Other engines</h2>
      <p class="hint">
        Models of upstreams, commands and pools. Add an upstream with{' '}
        <code>hearth upstream add NAME URL</code> on the machine that runs it.
      </p>
      {remote.length === 0 ? null : (
        <ul class="model-list">
          {remote.map((model) => (
            <Row key={model.id} model={model} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Row({ model }: { model: ModelEntry }) {
  const { id, engine = 'remote', owned_by: owner, context_length: window, kind } = model;
  const upstream = engineState.value?.upstreams[owner];
  const facts = [
    `${engine} at ${owner}`,
    ...(window === undefined ? [] : [`context up to ${count(window)} tokens`]),
  ];
  return (
    <li class="model">
      <div class="names">
        <h3>{id}</h3>
        <p class="tags">
          <span class={upstream?.state === 'down' ? 'tag bad' : 'tag'}>
            {upstream?.state ?? 'not asked yet'}
          </span>
        </p>
      </div>
      <p class="facts">{facts.join(' · ')}</p>
      <Abilities model={model} />
      {upstream?.why === undefined ? null : <p class="hint">{upstream.why}</p>}
      {kind === undefined || kind === 'chat' ? (
        <div class="actions model-actions">
          <ChatButton id={id} />
        </div>
      ) : null}
    </li>
  );
}
