import type { RequestView } from '../../src/wire/operation/requests.ts';
import { clock, count, milliseconds, percent, rate } from '../parts/figures.ts';
import { clientOf, errorWords, missLabel } from '../requests/request-words.ts';

const FEW = 6;

export function LastRequests({ requests }: { requests: readonly RequestView[] }) {
  if (requests.length === 0) return null;
  return (
    <section class="last-requests" aria-label="Last requests">
      <header>
        <h2>Last requests</h2>
        <a href="#/requests">All requests</a>
      </header>
      <ol>
        {requests.slice(0, FEW).map((request) => (
          <li key={request.number}>
            <time>{clock(request.started_ms)}</time>
            <strong>{clientOf(request)}</strong>
            <Prompt request={request} />
            <span class="number">{firstToken(request)}</span>
            <span class="number">{tokenSpeed(request)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Prompt({ request }: { request: RequestView }) {
  const { prompt_tokens: prompt, cached_tokens: cached = 0, error } = request;
  const miss = missLabel(request);
  return (
    <span class="prompt">
      {prompt === undefined ? (request.model ?? request.route) : `${count(prompt)} in`}
      {prompt === undefined || cached === 0 ? null : (
        <span class="tag">{percent(cached / prompt)} reused</span>
      )}
      {miss === null ? null : (
        <span class="tag" title="Why the prompt was read again">
          not reused: {miss}
        </span>
      )}
      {error === undefined ? null : (
        <span class={error === 'cancelled' ? 'tag' : 'tag bad'}>{errorWords(error)}</span>
      )}
    </span>
  );
}

const firstToken = ({ first_ms: first }: RequestView): string =>
  first === undefined ? '' : `first ${milliseconds(first)}`;

function tokenSpeed({ completion_tokens: tokens = 0, decode_ms: ms = 0 }: RequestView): string {
  return tokens < 2 || ms === 0 ? '' : `${rate((1000 * tokens) / ms)} t/s`;
}
