import { useEffect, useState } from 'preact/hooks';
import type { RequestView } from '../../src/wire/operation/requests.ts';
import { count, milliseconds, percent } from '../parts/figures.ts';
import { saveFile } from '../parts/files.ts';
import { ask, sentenceOf } from '../service/client.ts';
import { recent, watchRequests } from './recent.ts';
import { RecordingSign } from './recording-sign.tsx';
import { RequestDetails } from './request-details.tsx';

/** The last requests: a table, and for each a bar of its stages on one scale of time. */
export function RequestsView() {
  const [open, setOpen] = useState<number | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  useEffect(watchRequests, []);
  const longest = Math.max(1, ...recent.value.map(({ total_ms: total }) => total));
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
          The last requests since the service started, from its memory. Text is kept only where
          SVC_RECORD=text says so.
        </p>
      </header>
      <RecordingSign />
      {fault === null ? null : <p class="failure">{fault}</p>}
      <div class="actions">
        <StageKey />
        <button type="button" class="small" onClick={exportAll}>
          Save as HAR
        </button>
      </div>
      {recent.value.length === 0 ? <p class="hint">Nothing was asked yet.</p> : null}
      <div class="scroll-x" role="region" aria-label="Requests" tabIndex={0}>
        <table class="list">
          <thead>
            <tr>
              <th>Time</th>
              <th>Client</th>
              <th>Request</th>
              <th class="number">Prompt</th>
              <th class="number">Answer</th>
              <th class="number">First</th>
              <th class="number">Whole</th>
              <th class="stages-head">Stages</th>
            </tr>
          </thead>
          <tbody>
            {recent.value.map((request) => (
              <Row
                key={request.number}
                request={request}
                longest={longest}
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

function Row({
  request,
  longest,
  isOpen,
  onToggle,
}: {
  request: RequestView;
  longest: number;
  isOpen: boolean;
  onToggle: () => void;
}) {
  const {
    status,
    error,
    prompt_tokens: prompt,
    cached_tokens: cached = 0,
    completion_tokens: answer,
  } = request;
  return (
    <>
      <tr>
        <td class="mono">{new Date(request.started_ms).toLocaleTimeString('en', { hour12: false })}</td>
        <td>{request.client_name ?? request.key ?? request.client}</td>
        <td>
          <button type="button" class="quiet small" aria-expanded={isOpen} onClick={onToggle}>
            {request.model ?? request.route}
          </button>
          {status >= 400 || error !== undefined ? <span class="tag bad">{error ?? status}</span> : null}
        </td>
        <td class="number">
          {prompt === undefined ? '' : count(prompt)}
          {prompt === undefined || prompt === 0 ? null : <small> {percent(cached / prompt)} reused</small>}
        </td>
        <td class="number">{answer === undefined ? '' : count(answer)}</td>
        <td class="number">{request.first_ms === undefined ? '' : milliseconds(request.first_ms)}</td>
        <td class="number">{milliseconds(request.total_ms)}</td>
        <td>
          <Stages request={request} longest={longest} />
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

const STAGES = [
  ['waited', 'queue_ms'],
  ['loaded', 'load_ms'],
  ['restored', 'restore_ms'],
  ['prefilled', 'prefill_ms'],
  ['generated', 'decode_ms'],
] as const;

function Stages({ request, longest }: { request: RequestView; longest: number }) {
  const words = STAGES.map(([name, field]) => `${name} ${milliseconds(request[field] ?? 0)}`).join(', ');
  return (
    <div class="trace stages" role="img" aria-label={words}>
      {STAGES.map(([name, field]) => (
        <i key={name} class={name} style={{ width: `${(100 * (request[field] ?? 0)) / longest}%` }} />
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
