import { useEffect, useState } from 'preact/hooks';
import type { RequestView } from '../../src/wire/operation/requests.ts';
import { Failure } from '../parts/failure.tsx';
import { clock, count, milliseconds } from '../parts/figures.ts';
import { saveFile } from '../parts/files.ts';
import { ask, sentenceOf } from '../service/client.ts';
import { feedRefusal } from '../service/engine-feed.ts';
import { isOwn, listRefusal, recent, watchRequests } from './recent.ts';
import { RecordingSign } from './recording-sign.tsx';
import { RequestDetails } from './request-details.tsx';
import { clientOf, errorWords, promptWords } from './request-words.ts';

/** The last requests: a table, and for each a bar of the shares that its stages had in its time. */
export function RequestsView() {
  const [open, setOpen] = useState<number | null>(null);
  const [areOwnShown, setOwnShown] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  useEffect(watchRequests, []);
  const shown = areOwnShown ? recent.value : recent.value.filter((request) => !isOwn(request));
  const refusal = feedRefusal.value ?? listRefusal.value;
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
          The latest requests since the service started. Prompts and answers are recorded only if the service
          was started with <code>SVC_RECORD=text</code>.
        </p>
      </header>
      <RecordingSign />
      <Failure text={refusal ?? fault} />
      <div class="actions">
        <StageKey />
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
          No requests yet. <a href="#/playground">Ask a question</a>, or send one to{' '}
          <code>{location.origin}/v1</code>.
        </p>
      ) : null}
      {shown.length === 0 ? null : (
        <p class="hint sideways" aria-hidden="true">
          The table scrolls sideways →
        </p>
      )}
      <div class="scroll-x" role="region" aria-label="Requests" tabIndex={0} hidden={shown.length === 0}>
        <table class="list">
          <thead>
            <tr>
              <th>Time</th>
              <th>Client</th>
              <th>Model or route</th>
              <th class="number">Prompt</th>
              <th class="number">Answer</th>
              <th class="number">First token</th>
              <th class="number">Total</th>
              <th class="stages-head">Stages</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((request) => (
              <Row
                key={request.number}
                request={request}
                isOpen={open === request.number}
                onToggle={() => setOpen(open === request.number ? null : request.number)}
              />
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function Row({ request, isOpen, onToggle }: { request: RequestView; isOpen: boolean; onToggle: () => void }) {
  const { status, error, prompt_tokens: prompt, completion_tokens: answer } = request;
  const reused = promptWords(request);
  return (
    <>
      <tr>
        <td class="mono">{clock(request.started_ms)}</td>
        <td>{clientOf(request)}</td>
        <td>
          <button type="button" class="quiet small" aria-expanded={isOpen} onClick={onToggle}>
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
          <Stages request={request} />
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

/** A client that left is no failure. */
function Ending({ status, error }: { status: number; error: string | undefined }) {
  if (status < 400 && error === undefined) return null;
  return (
    <span class={error === 'cancelled' ? 'tag' : 'tag bad'}>
      {error === undefined ? status : errorWords(error)}
    </span>
  );
}

const STAGES = [
  ['waited', 'queue_ms'],
  ['loaded', 'load_ms'],
  ['restored', 'restore_ms'],
  ['prefilled', 'prefill_ms'],
  ['generated', 'decode_ms'],
] as const;

function Stages({ request }: { request: RequestView }) {
  const whole = Math.max(
    1e-3,
    STAGES.reduce((sum, [, field]) => sum + (request[field] ?? 0), 0),
  );
  const words = STAGES.map(([name, field]) => `${name} ${milliseconds(request[field] ?? 0)}`).join(', ');
  return (
    <div class="trace stages" role="img" aria-label={words}>
      {STAGES.map(([name, field]) => (
        <i key={name} class={name} style={{ width: `${(100 * (request[field] ?? 0)) / whole}%` }} />
      ))}
    </div>
  );
}

function StageKey() {
  return (
    <ul class="trace-key">
      <li class="waited">waited</li>
      <li class="loaded">loaded</li>
      <li class="restored">restored</li>
      <li class="prefilled">prefilled</li>
      <li class="generated">generated</li>
    </ul>
  );
}
