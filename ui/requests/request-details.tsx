import { useEffect, useState } from 'preact/hooks';
import type { CacheReport } from '../../src/wire/prompt-cache.ts';
import type { RequestDetail, RequestView } from '../../src/wire/operation/requests.ts';
import { type Asked, useAsked } from '../parts/asked.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { Failure } from '../parts/failure.tsx';
import { Options } from '../parts/options.tsx';
import { askJson, sentenceOf, type ServicePath } from '../service/client.ts';
import { DEFAULT_MODEL, menuWith, refreshModels } from '../service/known.ts';
import { CodeBlock } from '../text/code/code-block.tsx';
import { figuresOf } from './request-words.ts';

export function RequestDetails({ request }: { request: RequestView }) {
  const [detail, setDetail] = useState<RequestDetail | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const { number, request_id: id, has_text: hasText } = request;
  useEffect(() => {
    if (!hasText) return;
    askJson<RequestDetail>(`/svc/requests/${number}` as ServicePath).then(setDetail, (error: unknown) =>
      setFault(sentenceOf(error)),
    );
  }, [number]);
  return (
    <div class="details-of-request">
      <p class="request-id">
        <span>Request ID</span> <code>{id}</code> <CopyButton text={id} label="Copy ID" />
        <CopyButton text={`hearth logs --request ${id}`} label="Copy log command" />
      </p>
      <dl class="pairs">
        {figuresOf(request).map(({ name, value }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {request.cache_miss === 'differs' ? <Difference id={id} /> : null}
      <Failure text={fault} />
      {detail?.text === undefined ? null : (
        <>
          <CodeBlock text={detail.text.request.body} language="request" />
          <CodeBlock text={detail.text.response.body} language="response" />
          <SendAgain path={detail.text.path} body={detail.text.request.body} />
        </>
      )}
    </div>
  );
}

/** Only the key that made the request sees these words. */
function Difference({ id }: { id: string }) {
  const [report, setReport] = useState<CacheReport | null>(null);
  useEffect(() => {
    askJson<CacheReport>(`/svc/cache/why/${encodeURIComponent(id)}` as ServicePath).then(
      setReport,
      () => null,
    );
  }, [id]);
  const { difference, advice } = report ?? {};
  if (difference === null || difference === undefined) return null;
  const { shared, before, now } = difference;
  return (
    <dl class="pairs" aria-label="Where the prompt differs">
      <Words name="The same in both" text={`…${shared}`} />
      <Words name="The earlier prompt" text={before} />
      <Words name="This prompt" text={now} />
      {advice === null || advice === undefined ? null : <Words name="Advice" text={advice} />}
    </dl>
  );
}

const Words = ({ name, text }: { name: string; text: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{text}</dd>
  </div>
);

function SendAgain({ path, body }: { path: string; body: string }) {
  const [model, setModel] = useState(DEFAULT_MODEL);
  const [asked, ask] = useAsked<string, object>();
  useEffect(() => void refreshModels().catch(() => undefined), []);
  const send = () =>
    ask(model, async () => {
      const request = { ...(JSON.parse(body) as object), model, stream: false };
      return askJson<object>(path as ServicePath, { body: request });
    });
  return (
    <div class="actions">
      <label class="inline">
        <span>Model</span>
        <select value={model} onChange={({ currentTarget }) => setModel(currentTarget.value)}>
          <Options of={menuWith(model)} />
        </select>
      </label>
      <button type="button" class="small" onClick={send}>
        Send again
      </button>
      {asked?.of === model ? <CodeBlock text={answerText(asked)} language="answer" /> : null}
    </div>
  );
}

function answerText({ isBusy, value, error }: Asked<string, object>): string {
  if (isBusy) return '…';
  return error === undefined ? JSON.stringify(value, null, 2) : sentenceOf(error);
}
