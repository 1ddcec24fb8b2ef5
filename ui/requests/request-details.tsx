import { useEffect, useState } from 'preact/hooks';
import type { RequestDetail, RequestView } from '../../src/wire/operation/requests.ts';
import { askJson, sentenceOf, type ServicePath } from '../service/client.ts';
import { chatModels, refreshModels } from '../service/known.ts';
import { CodeBlock } from '../text/code-block.tsx';

/** One request to its last figure; with its text, where that was kept, and the way to send it to another model. */
export function RequestDetails({ request }: { request: RequestView }) {
  const [detail, setDetail] = useState<RequestDetail | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  useEffect(() => {
    if (!request.has_text) return;
    askJson<RequestDetail>(`/svc/requests/${request.number}` as ServicePath).then(
      setDetail,
      (error: unknown) => setFault(sentenceOf(error)),
    );
  }, [request.number]);
  const { number: _, has_text: __, ...figures } = request;
  return (
    <div class="details-of-request">
      <dl class="pairs">
        {Object.entries(figures).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{String(value)}</dd>
          </div>
        ))}
      </dl>
      {fault === null ? null : <p class="failure">{fault}</p>}
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

function SendAgain({ path, body }: { path: string; body: string }) {
  const [model, setModel] = useState('default');
  const [answer, setAnswer] = useState<string | null>(null);
  useEffect(() => void refreshModels().catch(() => undefined), []);
  const send = async () => {
    setAnswer('…');
    try {
      const request = { ...(JSON.parse(body) as object), model, stream: false };
      setAnswer(JSON.stringify(await askJson<object>(path as ServicePath, { body: request }), null, 2));
    } catch (error) {
      setAnswer(sentenceOf(error));
    }
  };
  return (
    <div class="actions">
      <label class="inline">
        <span>To</span>
        <select value={model} onChange={({ currentTarget }) => setModel(currentTarget.value)}>
          {['default', ...chatModels.value.map(({ id }) => id)].map((id) => (
            <option key={id}>{id}</option>
          ))}
        </select>
      </label>
      <button type="button" class="small" onClick={() => void send()}>
        Send again
      </button>
      {answer === null ? null : <CodeBlock text={answer} language="answer" />}
    </div>
  );
}
