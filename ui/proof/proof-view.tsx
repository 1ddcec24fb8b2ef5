import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { isRestored } from '../chat/talk/conversations.ts';
import { addressOf, place } from '../parts/address.ts';
import { Failure } from '../parts/failure.tsx';
import { milliseconds, moment } from '../parts/figures.ts';
import { sentenceOf } from '../service/client.ts';
import { chatModels, DEFAULT_MODEL, isLocal, namesOf } from '../service/known.ts';
import { RecordingSign } from '../requests/recording-sign.tsx';
import { useRecovery } from '../service/use-recovery.ts';
import { Options } from '../parts/options.tsx';
import { Markdown } from '../text/markdown.tsx';
import { findNamed, showNamed } from './named-proof.ts';
import { askSigned, busy, fault, type Held, judgeAgain, opened, takeFiles } from './proof-state.ts';
import { type Checked, findQuestion, savedValue, answerText } from './check.ts';
import { RecordView } from './record-view.tsx';
import { keyText, meetService, trust } from './trust.ts';

export function ProofView() {
  const { id } = place.value;
  const [unmet, setUnmet] = useState<string | null>(null);
  useRecovery(() => {
    setUnmet(null);
    meetService().catch((error: unknown) => setUnmet(sentenceOf(error)));
  });
  const key = keyText();
  useEffect(() => void judgeAgain(), [key]);
  const named = findNamed(id);
  const isNamed = named !== null;
  const isMissing = id !== null && !isNamed && isRestored.value;
  useEffect(() => void showNamed(id), [id, isNamed, isRestored.value]);
  const forms = (
    <div class="two">
      <Asking />
      <Dropping />
    </div>
  );
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
        <h1>Proofs</h1>
        <p>
          An answer can carry a signed record of how it was made. The record is checked here, in your browser,
          by the code of <code>hearth evidence verify</code>, without trusting the service.
        </p>
        {named === null ? null : (
          <a href={addressOf('chat', named.conversation.id)}>Back to “{named.conversation.title}”</a>
        )}
      </header>
      <RecordingSign />
      {isNamed ? null : forms}
      <TrustLine />
      <Failure
        text={isMissing ? 'This browser no longer has the answer of this proof.' : (fault.value ?? unmet)}
      />
      {id === null || isNamed ? <Opened /> : null}
      {isNamed ? forms : null}
    </div>
  );
}

function Opened() {
  const { held, checked = null, comparison = null } = opened.value ?? {};
  if (held === undefined || checked === null) return null;
  const answer = <Said held={held} checked={checked} />;
  return <RecordView held={held} checked={checked} comparison={comparison} answer={answer} />;
}

const typed = signal<{ readonly prompt: string; readonly model: string | null; readonly tokens: string }>({
  prompt: 'What is Hearth?',
  model: null,
  tokens: '128',
});
const set = (part: Partial<typeof typed.value>): void => {
  typed.value = { ...typed.value, ...part };
};

function Asking() {
  const { prompt, model: chosen, tokens } = typed.value;
  // Only this service signs; an upstream's answer cannot be proved here.
  const local = chatModels.value.filter(isLocal);
  const model = chosen ?? local[0]?.id ?? DEFAULT_MODEL;
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
          onInput={({ currentTarget }) => set({ prompt: currentTarget.value })}
        />
      </label>
      <div class="fields">
        <label class="labelled">
          <span>Model</span>
          <select value={model} onChange={({ currentTarget }) => set({ model: currentTarget.value })}>
            <Options of={namesOf(local)} />
          </select>
        </label>
        <label class="labelled short">
          <span>Maximum tokens</span>
          <input
            type="number"
            min={1}
            value={tokens}
            onInput={({ currentTarget }) => set({ tokens: currentTarget.value })}
          />
        </label>
      </div>
      <button type="submit" class="main" disabled={isAsking}>
        {isAsking ? 'Answering…' : 'Ask for a signed answer'}
      </button>
    </form>
  );
}

function Dropping() {
  return (
    <section class="sheet drop" aria-label="Check a record">
      <h2>Check</h2>
      <p>
        Drop a saved proof anywhere on this page, or a saved answer with its request and the issuer's public
        key. Nothing is sent anywhere; this also works while the service is stopped.
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
          No key is trusted yet: this service has not shown its own. Choose the issuer's public key.
        </p>
      );
    case 'given':
      return <p class="trust">Trusted key: the one you chose, in {believed.name}.</p>;
    case 'changed':
      return (
        <p class="failure" role="alert">
          This service did not prove that it holds the key this browser remembers (
          {believed.pin.keyid.slice(0, 16)}…): {believed.fault}. To check its records nevertheless, choose its
          public key.
        </p>
      );
    case 'seen':
      return (
        <p class="trust">
          Trusted key: <code>{believed.pin.keyid.slice(0, 16)}…</code>, which this browser first saw{' '}
          {believed.isNew ? 'just now' : `on ${moment(believed.pin.seenAt)}`}. To be sure that it is the right
          one, compare it with the output of <code>hearth evidence pubkey --fingerprint</code>.
        </p>
      );
  }
}

function Said({ held: { record, request }, checked }: { held: Held; checked: Checked }) {
  const { timings } = savedValue(record) as { timings?: { prompt_ms: number; predicted_ms: number } };
  const question = findQuestion(request);
  const text = answerText(checked);
  return (
    <>
      {question === null ? null : (
        <blockquote class="said-question" aria-label="The question">
          {question}
        </blockquote>
      )}
      {text === null ? null : (
        <div class="said-answer">
          <Markdown text={text} />
          {timings === undefined ? null : (
            <p class="hint">
              took {milliseconds(timings.prompt_ms + timings.predicted_ms)} (not part of what is signed)
            </p>
          )}
        </div>
      )}
    </>
  );
}
