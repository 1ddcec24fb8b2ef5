import { useEffect, useState } from 'preact/hooks';
import type { RequestView } from '../../src/wire/operation/requests.ts';
import { ChevronDown, ChevronRight } from 'lucide';
import { Failure } from '../parts/failure.tsx';
import { clock, count, milliseconds } from '../parts/figures.ts';
import { saveFile } from '../parts/files.ts';
import { Icon } from '../parts/icon.tsx';
import { ask, isReachable, sentenceOf, UNREACHABLE } from '../service/client.ts';
import { recordedUntilMs, refreshRecording } from '../service/recording.ts';
import { useRecovery } from '../service/use-recovery.ts';
import { feedRefusal } from '../service/engine-feed.ts';
import { isOwn, listRefusal, recent, watchRequests } from './recent.ts';
import { RecordingSign } from './recording-sign.tsx';
import { type Scale, StageKey, Stages, TimeAxis } from './stages.tsx';
import { timeLine, timeScale } from './time-scale.ts';
import { RequestDetails } from './request-details.tsx';
import { clientOf, errorWords, promptWords } from './request-words.ts';

export function RequestsView() {
  const [open, setOpen] = useState<string | null>(null);
  const [areOwnShown, setOwnShown] = useState(false);
  const [isByTime, setByTime] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  useEffect(watchRequests, []);
  useRecovery(() => void refreshRecording());
  const shown = areOwnShown ? recent.value : recent.value.filter((request) => !isOwn(request));
  const scale = isByTime ? timeLine(shown) : timeScale(shown);
  const refusal = isReachable.value ? (feedRefusal.value ?? listRefusal.value) : UNREACHABLE;
  const exportAll = () => {
    ask('/svc/requests.har')
      .then((response) => response.text())
      .then((text) => saveFile('hearth-requests.har', text))
      .catch((error: unknown) => setFault(sentenceOf(error)));
  };
  return (
    <div class="view requests">
      <header class="view-head">
        <h1>Requests</h1>
        <p>
          The latest requests since the service started.
          {recordedUntilMs.value === null ? (
            <>
              {' '}
              Prompts and answers are recorded only if it is started with <code>SVC_RECORD=text</code>.
            </>
          ) : null}
        </p>
      </header>
      <RecordingSign />
      <Failure text={refusal ?? fault} />
      <StageKey />
      <div class="actions">
        <label class="inline">
          <span>Bars show</span>
          <select
            value={isByTime ? 'time' : 'length'}
            onChange={({ currentTarget }) => setByTime(currentTarget.value === 'time')}
          >
            <option value="length">how long they took</option>
            <option value="time">when they ran</option>
          </select>
        </label>
        <label class="inline">
          <input
            type="checkbox"
            checked={areOwnShown}
            onChange={({ currentTarget }) => setOwnShown(currentTarget.checked)}
          />
          <span>Show this page's own status requests ({recent.value.filter(isOwn).length})</span>
        </label>
        <button type="button" class="small" disabled={refusal !== null} onClick={exportAll}>
          Save as HAR
        </button>
      </div>
      {shown.length === 0 && refusal === null ? (
        <p class="empty">
          No requests yet. <a href="#/chat">Ask a question</a>, or send one to{' '}
          <code>{location.origin}/v1</code>.
        </p>
      ) : null}
      <div class="scroll-x" role="region" aria-label="Requests" tabIndex={0} hidden={shown.length === 0}>
        <table class="list">
          <thead>
            <tr>
              <th>Started</th>
              <th>Client</th>
              <th>Model or route</th>
              <th class="number">Prompt</th>
              <th class="number">Answer</th>
              <th class="number">First token</th>
              <th class="number">Total</th>
              <th class="stages-head">
                <span class="unseen">Stages</span>
                <TimeAxis scale={scale} />
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((request) => (
              <Row
                key={request.request_id}
                request={request}
                scale={scale}
                isOpen={open === request.request_id}
                onToggle={() => setOpen(open === request.request_id ? null : request.request_id)}
              />
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

interface RowFacts {
  readonly request: RequestView;
  readonly scale: Scale;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function Row({ request, scale, isOpen, onToggle }: RowFacts) {
  const { status, error, prompt_tokens: prompt, completion_tokens: answer } = request;
  const reused = promptWords(request);
  return (
    <>
      <tr class="row" onClick={onToggle}>
        <td class="mono">{clock(request.started_ms)}</td>
        <td title={clientOf(request)}>{clientOf(request)}</td>
        <td>
          <button
            type="button"
            class="quiet small opener"
            aria-expanded={isOpen}
            onClick={(event) => {
              event.stopPropagation();
              onToggle();
            }}
          >
            <Icon of={isOpen ? ChevronDown : ChevronRight} />
            {request.model ?? request.route}
          </button>
          <Ending status={status} error={error} />
        </td>
        <td class="number">
          {prompt === undefined ? '' : count(prompt)}
          {reused === null ? null : <small> {reused}</small>}
        </td>
        <td class="number">{answer === undefined ? '' : count(answer)}</td>
        <td class="number">{request.first_ms === undefined ? '' : milliseconds(request.first_ms)}</td>
        <td class="number">{milliseconds(request.total_ms)}</td>
        <td>
          <Stages request={request} scale={scale} />
        </td>
      </tr>
      {isOpen ? (
        <tr>
          <td colSpan={8}>
            <RequestDetails request={request} />
          </td>
        </tr>
      ) : null}
    </>
  );
}

/** A client that left is not an error. */
function Ending({ status, error }: { status: number; error: string | undefined }) {
  if (status < 400 && error === undefined) return null;
  return (
    <span class={error === 'cancelled' ? 'tag' : 'tag bad'}>
      {error === undefined ? status : errorWords(error)}
    </span>
  );
}
