/**
 * ui/engine owns the view of the engine's activity. It does not know how anything is decided. This file: its parts,
 * and the figures above them.
 */
import { Cpu, Power, Square } from 'lucide';
import { useEffect, useState } from 'preact/hooks';
import type { ClientView, EngineState, ModelView } from '../../src/wire/operation/engine-state.ts';
import { areAnswersHere, stopEverything } from '../chat/talk/answering.ts';
import { faults, load, pending } from '../models/models-state.ts';
import { addressOf } from '../parts/address.ts';
import { Failure } from '../parts/failure.tsx';
import { clock, count, milliseconds, percent, plural, rate } from '../parts/figures.ts';
import { Icon, IconButton } from '../parts/icon.tsx';
import { Spark } from '../parts/spark.tsx';
import { TraceKey } from '../parts/trace-bar.tsx';
import { isInference, recent, watchRequests } from '../requests/recent.ts';
import { RecordingSign } from '../requests/recording-sign.tsx';
import { PAGE_CLIENT, UNREACHABLE } from '../service/client.ts';
import { engineState, feedRefusal, lostSinceMs, reconnect, watchEngine } from '../service/engine-feed.ts';
import { isLocal, models, refreshModels } from '../service/known.ts';
import { refreshRecording } from '../service/recording.ts';
import { useRecovery } from '../service/use-recovery.ts';
import { CacheView } from './cache-view.tsx';
import { LastRequests } from './last-requests.tsx';
import { MemoryView } from './memory-view.tsx';
import { ModelLanes } from './model-lanes.tsx';
import { opens, rates, watchRate } from './rate-meter.ts';
import { firstTokens, promptOrigins, quantile, reusedShare, withPrompt } from './reading/prompts.ts';
import { UpstreamsView } from './upstreams-view.tsx';

const FEW = 40;

export function EngineRoom() {
  useEffect(watchEngine, []);
  useEffect(watchRequests, []);
  useEffect(watchRate, []);
  useRecovery(() => {
    void refreshRecording();
    void refreshModels().catch(() => undefined);
  });
  const state = engineState.value;
  return (
    <div class={lostSinceMs.value === null ? 'view engine' : 'view engine lost'}>
      <header class="view-head">
        <h1>Engine room</h1>
        <p>What the models are doing now: running requests, the queue, and what is in memory.</p>
      </header>
      <RecordingSign />
      <LostSign />
      <Failure text={feedRefusal.value} />
      {state === null ? <Connecting /> : <Room state={state} />}
    </div>
  );
}

const Connecting = () =>
  feedRefusal.value === null && lostSinceMs.value === null ? (
    <p class="hint">Connecting to the engine…</p>
  ) : null;

function Room({ state }: { state: EngineState }) {
  const last = recent.value.filter(isInference).slice(0, FEW);
  const inMemory = Object.entries(state.models).toSorted(([, a], [, b]) => lanesIn(b) - lanesIn(a));
  return (
    <>
      <Figures state={state} last={last} />
      <div class="room">
        <div class="lanes-of-models">
          {inMemory.map(([id, model]) => (
            <ModelLanes key={id} id={id} model={model} state={state} requests={last} />
          ))}
          {inMemory.length === 0 ? (
            <p class="cold">
              No model is in memory. The first request loads one: <a href="#/chat">ask a question</a>.
            </p>
          ) : (
            <TraceKey />
          )}
          <NotLoaded state={state} />
          <LastRequests requests={last} />
        </div>
        <div class="beside">
          <MemoryView state={state} />
          <GpuLine state={state} />
          <QueueView state={state} />
          <CacheView state={state} last={last} />
          <UpstreamsView upstreams={state.upstreams} nowMs={state.at_ms} />
        </div>
      </div>
    </>
  );
}

const lanesIn = ({ slots }: ModelView): number => Math.min(1, Object.keys(slots).length);

function Figures({ state, last }: { state: EngineState; last: typeof recent.value }) {
  const firsts = firstTokens(last);
  const prompted = withPrompt(last);
  const share = reusedShare(promptOrigins(prompted));
  const running = Object.values(state.jobs).filter(({ state: now }) => now === 'running').length;
  const reading = readingRate(state);
  const writing = rates.value.at(-1) ?? 0;
  const isReading = writing === 0 && reading > 0;
  const [median, worst] = [quantile(firsts, 0.5), quantile(firsts, 0.99)];
  return (
    <dl class="figures">
      <Figure
        name={isReading ? 'tokens/s, prefill' : 'tokens/s, decode'}
        value={rate(isReading ? reading : writing)}
        values={rates.value}
      />
      <Figure
        name="first token, median"
        value={median === null ? '–' : milliseconds(median)}
        note={worst === null ? '' : `p99 ${milliseconds(worst)}`}
        values={firsts}
      />
      <Figure
        name="prompt tokens reused"
        value={share === null ? '–' : percent(share)}
        note={prompted.length === 0 ? '' : `last ${plural(prompted.length, 'request')}`}
        values={sharesOf(prompted)}
      />
      <Figure
        name="running / waiting"
        value={`${count(running)} / ${count(state.queued)}`}
        values={opens.value}
      />
    </dl>
  );
}

/** Prefill rate of all prompts, in tokens per second. */
const readingRate = ({ models }: EngineState): number =>
  Object.values(models)
    .flatMap(({ slots }) => Object.values(slots))
    .filter(({ phase }) => phase === 'prefill')
    .reduce((sum, { tokens_per_s: perSecond = 0 }) => sum + perSecond, 0);

const MOST_NOT_LOADED = 6;

function NotLoaded({ state }: { state: EngineState }) {
  const idle = models.value.filter((model) => isLocal(model) && state.models[model.id] === undefined);
  if (idle.length === 0) return null;
  return (
    <section class="not-loaded" aria-label="Models not in memory">
      <h2>Not in memory</h2>
      <div class="actions">
        {idle.slice(0, MOST_NOT_LOADED).map(({ id, kind = 'chat' }) => (
          <IconButton
            key={id}
            icon={Power}
            name={`Load ${id}`}
            words={id}
            disabled={pending.value.has(id)}
            onClick={() => void load(id, kind)}
          />
        ))}
        <a href={addressOf('models')}>All models</a>
      </div>
      {idle.map(({ id }) => (
        <Failure key={id} text={faults.value[id]} />
      ))}
    </section>
  );
}

function GpuLine({ state: { gpu } }: { state: EngineState }) {
  if (gpu === undefined) return null;
  return (
    <p class="gpu-line" role="status">
      <Icon of={Cpu} />
      <span>
        <strong>GPU {gpu.state}.</strong> {gpu.words}
      </span>
    </p>
  );
}

interface FigureFacts {
  readonly name: string;
  readonly value: string;
  readonly note?: string;
  readonly values: readonly number[];
}

function Figure({ name, value, note = '', values }: FigureFacts) {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd>
        {value}
        {note === '' ? null : <small>{note}</small>}
      </dd>
      <Spark values={values} />
    </div>
  );
}

const sharesOf = (requests: typeof recent.value): number[] =>
  requests.flatMap((request) => reusedShare(promptOrigins([request])) ?? []).toReversed();

function LostSign() {
  const since = lostSinceMs.value;
  const [nowMs, setNow] = useState(Date.now());
  useEffect(() => {
    if (since === null) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [since]);
  if (since === null) return null;
  return (
    <div class="lost-sign">
      <p role="status">
        {engineState.value === null
          ? UNREACHABLE
          : `Connection lost at ${clock(since)}. Below is the last known state; trying to reconnect.`}
      </p>
      <span aria-hidden="true">{milliseconds(Math.max(1000, nowMs - since))} ago</span>
      <button type="button" class="small" onClick={reconnect}>
        Reconnect now
      </button>
    </div>
  );
}

/** Further requests of a client are only counted. */
const MOST_MARKS = 16;

/** Grouped by client, because clients take turns regardless of their number of requests. */
function QueueView({ state: { clients } }: { state: EngineState }) {
  return (
    <section class="sheet queue" aria-label="Queue">
      <h2>Clients</h2>
      {clients.length === 0 ? <p class="hint">No requests are running or waiting.</p> : null}
      <ul class="holders">
        {clients.map((client) => (
          <Client key={client.client} client={client} />
        ))}
      </ul>
    </section>
  );
}

function Client({ client: { client, running, queued } }: { client: ClientView }) {
  const all = [...Array<string>(running).fill('runs'), ...Array<string>(queued).fill('waits')];
  return (
    <li class="client">
      <strong>{client === '' ? 'unnamed client' : client}</strong>
      <span class="marks" aria-hidden="true">
        {all.slice(0, MOST_MARKS).map((name, at) => (
          <i key={at} class={name} />
        ))}
      </span>
      <span>{[...counted(running, 'running'), ...counted(queued, 'waiting')].join(', ')}</span>
      {client === PAGE_CLIENT && areAnswersHere.value ? (
        <IconButton
          icon={Square}
          name="Stop the answers of this tab"
          words="Stop"
          class="stop"
          onClick={stopEverything}
        />
      ) : null}
    </li>
  );
}

const counted = (value: number, words: string): string[] => (value === 0 ? [] : [`${count(value)} ${words}`]);
