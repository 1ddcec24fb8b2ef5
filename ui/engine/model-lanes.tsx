import { Power, Square } from 'lucide';
import type { EngineState, ModelView } from '../../src/wire/operation/engine-state.ts';
import type { RequestView } from '../../src/wire/operation/requests.ts';
import { faults, pending, unload } from '../models/models-state.ts';
import { AskingButton } from '../parts/asking-button.tsx';
import { Failure } from '../parts/failure.tsx';
import { count, milliseconds, plural } from '../parts/figures.ts';
import { IconButton } from '../parts/icon.tsx';
import { Spark } from '../parts/spark.tsx';
import { TraceBar } from '../parts/trace-bar.tsx';
import { apartOf, type LaneReading, lanesOf, scaleOf, waitingFor } from './reading/lanes.ts';
import { firstTokens, quantile } from './reading/prompts.ts';
import { askedJob, stopJob, stops } from './stop-job.ts';

/** Further waiting jobs are only counted. */
const MOST_WAITING = 3;

interface ModelFacts {
  readonly id: string;
  readonly model: ModelView;
  readonly state: EngineState;
  readonly requests: readonly RequestView[];
}

export function ModelLanes({ id, model, state, requests }: ModelFacts) {
  const all = lanesOf(model, state.jobs);
  const lanes = all.filter(({ kind }) => kind !== 'free');
  const waiting = waitingFor(id, state);
  const isLoading = model.state === 'loading';
  return (
    <section class={`model-lanes ${model.state}`} aria-label={`Slots of ${id}`}>
      <header>
        <h2>{id}</h2>
        <FirstTokens requests={requests.filter((request) => request.model === id)} />
        <p class="facts">
          {laneFacts(model, all, state.at_ms).map(({ words, about }) => (
            <span key={words} title={about}>
              {words}
            </span>
          ))}
        </p>
        {model.place === undefined ? <Unload id={id} /> : null}
      </header>
      {isLoading ? <div class="trace loading-bar" /> : null}
      <ol>
        {lanes.map((lane) => (
          <LaneRow key={lane.number} lane={lane} />
        ))}
        {apartOf(id, model, state.jobs).map((job) => (
          <PlainRow key={job.jobId} mark="+" {...job} />
        ))}
        {waiting.slice(0, MOST_WAITING).map((job) => (
          <PlainRow key={job.jobId} mark="…" {...job} isWaiting />
        ))}
      </ol>
      {lanes.length === 0 ? null : (
        <p class="scale">
          <span title="How many tokens the whole width of a bar stands for">
            bar = {count(scaleOf(model))} tokens
          </span>
          {waiting.length <= MOST_WAITING ? null : (
            <span>{count(waiting.length - MOST_WAITING)} more waiting</span>
          )}
        </p>
      )}
    </section>
  );
}

interface Fact {
  readonly words: string;
  readonly about?: string;
}

function laneFacts(model: ModelView, lanes: readonly LaneReading[], nowMs: number): Fact[] {
  const { state, place, num_ctx: window, threads, running, cells, slots } = model;
  const busy = lanes.filter(({ kind }) => kind !== 'kept' && kind !== 'free').length;
  const kept = Object.values(slots).reduce((sum, slot) => sum + slot.kept_tokens, 0);
  return [
    {
      words: state === 'loading' ? `loading for ${milliseconds(Math.max(0, nowMs - model.since_ms))}` : state,
    },
    ...(place === undefined ? [] : [{ words: `at ${place}` }]),
    lanes.length === 0
      ? { words: `${count(running)} running` }
      : {
          words: `${busy} of ${lanes.length} slots in use`,
          about: 'How many requests it answers at once, and how many it could',
        },
    ...(window === undefined || window === 0
      ? []
      : [{ words: `window ${count(window)}`, about: 'Tokens that one conversation may have (num_ctx)' }]),
    ...(cells === undefined || lanes.length === 0
      ? []
      : [
          {
            words: `${count(kept)} of ${count(cells)} tokens kept`,
            about: 'Memory of conversations, shared by all slots (KV cache)',
          },
        ]),
    ...(threads === undefined
      ? []
      : [{ words: plural(threads, 'thread'), about: 'Threads of the processor that it computes with' }]),
  ];
}

function Unload({ id }: { id: string }) {
  const fault = faults.value[id];
  return (
    <>
      <IconButton
        icon={Power}
        name={`Unload ${id}`}
        words="Unload"
        disabled={pending.value.has(id)}
        onClick={() => void unload(id)}
      />
      <Failure text={fault} />
    </>
  );
}

function FirstTokens({ requests }: { requests: readonly RequestView[] }) {
  const values = firstTokens(requests);
  const median = quantile(values, 0.5);
  if (median === null) return null;
  return (
    <p class="first-tokens">
      <Spark values={values} />
      <span>first token {milliseconds(median)}</span>
    </p>
  );
}

function LaneRow({ lane }: { lane: LaneReading }) {
  const { number, jobId, kind, trace, doing, client, speed, isFrozen } = lane;
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
        {isFrozen ? <span class="tag good">signed</span> : null}
        <span class="speed">{speed}</span>
      </p>
      {jobId === undefined ? null : <StopJob key={jobId} jobId={jobId} client={client} />}
    </li>
  );
}

/** Stops a job of any client, which gets an error that names the cause. */
function StopJob({ jobId, client }: { jobId: string; client: string }) {
  const state = stops.value[jobId];
  const name = `Stop the request of ${client === '' ? 'an unnamed client' : client}`;
  return (
    <div class="stop-job">
      <AskingButton
        icon={Square}
        about={name}
        name={name}
        question="Its client gets an error."
        yes="Stop it"
        no="Let it run"
        isAsking={askedJob.value === jobId}
        onAsk={(isAsking) => {
          if (isAsking) askedJob.value = jobId;
          else if (askedJob.value === jobId) askedJob.value = null;
        }}
        isBusy={state === 'asked'}
        onYes={() => void stopJob(jobId)}
      />
      <Failure text={typeof state === 'object' ? state.fault : null} />
    </div>
  );
}

interface PlainFacts {
  readonly mark: string;
  readonly jobId: string;
  readonly client: string;
  readonly words: string;
  readonly isWaiting?: boolean;
}

/** A job without a slot has no bar. */
function PlainRow({ mark, jobId, client, words, isWaiting = false }: PlainFacts) {
  return (
    <li class={`slot apart${isWaiting ? ' waiting' : ''}`}>
      <span class="slot-number" aria-hidden="true">
        {mark}
      </span>
      <p>{words}</p>
      <p class="who">
        <strong>{client}</strong>
      </p>
      <StopJob jobId={jobId} client={client} />
    </li>
  );
}
