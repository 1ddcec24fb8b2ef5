import type { EngineState, ModelView } from '../../src/wire/operation/engine-state.ts';
import { count, plural } from '../parts/figures.ts';
import { TraceBar } from '../parts/trace-bar.tsx';
import { apartOf, type LaneReading, lanesOf, scaleOf } from './reading.ts';

/** One model: a lane for each of its slots. */
export function ModelLanes({ id, model, jobs }: { id: string; model: ModelView; jobs: EngineState['jobs'] }) {
  const lanes = lanesOf(model, jobs);
  const apart = apartOf(id, model, jobs);
  const busy = lanes.filter(({ kind }) => kind !== 'kept' && kind !== 'free').length;
  const facts = [
    model.state,
    ...(model.num_ctx === undefined ? [] : [`window ${count(model.num_ctx)}`]),
    ...(model.threads === undefined ? [] : [plural(model.threads, 'thread')]),
    ...(lanes.length === 0 ? [`${model.running} running`] : [`${busy} of ${lanes.length} slots`]),
  ];
  return (
    <section class={`model-lanes ${model.state}`} aria-label={`Slots of ${id}`}>
      <header>
        <h2>{id}</h2>
        <p>{facts.join(' · ')}</p>
      </header>
      <ol>
        {lanes.map((lane) => (
          <LaneRow key={lane.number} lane={lane} />
        ))}
        {apart.map(({ client, words }) => (
          <li key={words + client} class="slot apart">
            <span class="slot-number" aria-hidden="true">
              +
            </span>
            <p>{words}</p>
            <p class="who">
              <strong>{client}</strong>
            </p>
          </li>
        ))}
      </ol>
      {lanes.length === 0 ? null : <p class="scale">the width is {count(scaleOf(model))} tokens</p>}
    </section>
  );
}

function LaneRow({ lane }: { lane: LaneReading }) {
  const { number, kind, trace, doing, client, speed, isFrozen } = lane;
  return (
    <li class={`slot ${kind}`}>
      <span class="slot-number">
        <span class="unseen">Slot </span>
        {number}
      </span>
      <div>
        <TraceBar trace={trace} label={doing} />
        <p>{doing}</p>
      </div>
      <p class="who">
        <strong>{client}</strong>
        {isFrozen ? <span class="tag warm">signed</span> : null}
        <span class="speed">{speed}</span>
      </p>
    </li>
  );
}
