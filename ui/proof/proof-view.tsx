import { useEffect, useState } from 'preact/hooks';
import { milliseconds } from '../parts/figures.ts';
import { sentenceOf } from '../service/client.ts';
import { chatModels } from '../service/known.ts';
import { Markdown } from '../text/markdown.tsx';
import { askSigned, busy, checked, fault, held, takeFiles } from './proof-state.ts';
import { RecordView } from './record-view.tsx';
import { meetService, trust } from './trust.ts';

/** Ask for an answer that can be proved, or drop a record in; it is checked in this browser. */
export function ProofView() {
  useEffect(() => {
    meetService().catch((error: unknown) => {
      fault.value = sentenceOf(error);
    });
  }, []);
  return (
    <div
      class="view proof"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void takeFiles(event.dataTransfer?.files ?? []);
      }}
    >
      <header class="view-head">
        <h1>Proof</h1>
        <p>
          An answer can carry a signed record of how it came about. It is checked here, in your browser, by
          the same code that <code>hearth evidence verify</code> runs; the service has no say in it.
        </p>
      </header>
      <div class="two">
        <Asking />
        <Dropping />
      </div>
      <TrustLine />
      {fault.value === null ? null : (
        <p class="failure" role="alert">
          {fault.value}
        </p>
      )}
      {checked.value === null || held.value === null ? null : (
        <RecordView held={held.value} checked={checked.value} answer={<Said record={held.value.record} />} />
      )}
    </div>
  );
}

function Asking() {
  const [prompt, setPrompt] = useState('What is Hearth?');
  const [chosen, setModel] = useState<string | null>(null);
  const [tokens, setTokens] = useState('128');
  const model = chosen ?? chatModels.value[0]?.id ?? 'default';
  const isAsking = busy.value === 'asking';
  return (
    <form
      class="sheet"
      onSubmit={(event) => {
        event.preventDefault();
        void askSigned(model, prompt, Number(tokens));
      }}
    >
      <h2>Ask</h2>
      <label class="labelled">
        <span>Question</span>
        <textarea
          rows={2}
          required
          value={prompt}
          onInput={({ currentTarget }) => setPrompt(currentTarget.value)}
        />
      </label>
      <div class="fields">
        <label class="labelled">
          <span>Model</span>
          <select value={model} onChange={({ currentTarget }) => setModel(currentTarget.value)}>
            {chatModels.value.map(({ id }) => (
              <option key={id}>{id}</option>
            ))}
          </select>
        </label>
        <label class="labelled short">
          <span>Tokens at most</span>
          <input
            type="number"
            min={1}
            value={tokens}
            onInput={({ currentTarget }) => setTokens(currentTarget.value)}
          />
        </label>
      </div>
      <button type="submit" class="main" disabled={isAsking}>
        {isAsking ? 'Answering' : 'Ask for a signed answer'}
      </button>
    </form>
  );
}

function Dropping() {
  return (
    <section class="sheet drop" aria-label="Check a record">
      <h2>Check</h2>
      <p>
        Drop a saved answer anywhere on this view, with its request and the issuer's key if you have them.
        Nothing is sent: this works with the service stopped.
      </p>
      <label class="button">
        Choose files
        <input
          type="file"
          multiple
          class="unseen"
          onChange={({ currentTarget }) => {
            void takeFiles([...(currentTarget.files ?? [])]);
            currentTarget.value = '';
          }}
        />
      </label>
    </section>
  );
}

function TrustLine() {
  const believed = trust.value;
  switch (believed.kind) {
    case 'none':
      return (
        <p class="trust">
          No key is trusted yet. Drop the issuer's public key, or let the service show its own.
        </p>
      );
    case 'given':
      return <p class="trust">Trusted: the key that you gave in {believed.name}.</p>;
    case 'changed':
      return (
        <p class="failure" role="alert">
          This service does not prove itself by the key that this browser saw first (
          {believed.pin.keyid.slice(0, 16)}…): {believed.fault}. After a change of keys, drop the output of
          hearth evidence pubkey --history.
        </p>
      );
    case 'seen':
      return (
        <p class="trust">
          Trusted: key <code>{believed.pin.keyid.slice(0, 16)}…</code>, shown by this service and remembered
          by this browser{' '}
          {believed.isNew ? 'just now' : `since ${new Date(believed.pin.seenAt).toLocaleString('en')}`}. To
          trust it for another reason, compare it with <code>hearth evidence pubkey</code>.
        </p>
      );
  }
}

/** What was answered, as far as the file holds it. */
function Said({ record }: { record: string }) {
  const { choices, timings } = JSON.parse(record) as {
    choices?: { message?: { content?: string } }[];
    timings?: { prompt_ms: number; predicted_ms: number };
  };
  const text = choices?.[0]?.message?.content;
  if (text === undefined) return null;
  return (
    <div class="said-answer">
      <Markdown text={text} />
      {timings === undefined ? null : (
        <p class="hint">took {milliseconds(timings.prompt_ms + timings.predicted_ms)}, which nobody signs</p>
      )}
    </div>
  );
}
