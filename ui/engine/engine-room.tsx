/**
 * ui/engine owns the view of what the engine does now. It does not know how anything is decided. This file: its parts, and
 * the figures above them.
 */
import { useEffect } from 'preact/hooks';
import { count, milliseconds, percent, rate } from '../parts/figures.ts';
import { Spark } from '../parts/spark.tsx';
import { TraceKey } from '../parts/trace-bar.tsx';
import { recent, watchRequests } from '../requests/recent.ts';
import { engineState, watchEngine } from '../service/engine-feed.ts';
import { RecordingSign } from '../requests/recording-sign.tsx';
import { MemoryView } from './memory-view.tsx';
import { ModelLanes } from './model-lanes.tsx';
import { QueueView } from './queue-view.tsx';
import { rates, watchRate } from './rate-meter.ts';
import { cachedShare, medianFirst } from './reading.ts';

const FEW = 40;

export function EngineRoom() {
  useEffect(watchEngine, []);
  useEffect(watchRequests, []);
  useEffect(watchRate, []);
  const state = engineState.value;
  return (
    <div class="view engine">
      <header class="view-head">
        <h1>Engine room</h1>
        <p>What the models do now: who is answered, who waits, and what the memory holds.</p>
      </header>
      <RecordingSign />
      {state === null ? <p class="hint">Waiting for the engine to speak.</p> : <Figures />}
      {state === null ? null : (
        <div class="room">
          <div class="lanes-of-models">
            {Object.entries(state.models).map(([id, model]) => (
              <ModelLanes key={id} id={id} model={model} jobs={state.jobs} />
            ))}
            {Object.keys(state.models).length === 0 ? (
              <p class="cold">No model is in memory. The first request loads one.</p>
            ) : (
              <TraceKey />
            )}
          </div>
          <div class="beside">
            <MemoryView state={state} />
            <QueueView state={state} />
          </div>
        </div>
      )}
    </div>
  );
}

function Figures() {
  const state = engineState.value;
  if (state === null) return null;
  const last = recent.value.slice(0, FEW);
  const first = medianFirst(last);
  const share = cachedShare(last);
  const running = Object.values(state.jobs).filter(({ state: now }) => now === 'running').length;
  const firsts = last.flatMap(({ first_ms: ms }) => ms ?? []).reverse();
  return (
    <dl class="figures">
      <Figure name="tokens per second" value={rate(rates.value.at(-1) ?? 0)} values={rates.value} />
      <Figure name="first token, median" value={first === null ? '–' : milliseconds(first)} values={firsts} />
      <Figure
        name="prompt from the cache"
        value={share === null ? '–' : percent(share)}
        values={sharesOf(last)}
      />
      <Figure name="running / waiting" value={`${count(running)} / ${count(state.queued)}`} values={[]} />
    </dl>
  );
}

function Figure({ name, value, values }: { name: string; value: string; values: readonly number[] }) {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd>{value}</dd>
      <Spark values={values} />
    </div>
  );
}

const sharesOf = (requests: typeof recent.value): number[] =>
  requests
    .flatMap(({ prompt_tokens: all = 0, cached_tokens: cached = 0 }) => (all === 0 ? [] : [cached / all]))
    .reverse();
