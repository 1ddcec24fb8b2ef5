import type { ComponentChildren } from 'preact';
import type { Finding } from '../../src/trust/evidence/verify.ts';
import { saveFile } from '../parts/files.ts';
import { CodeBlock } from '../text/code-block.tsx';
import { type Checked, payloadText } from './check.ts';
import { explain } from './explained.ts';
import { askAgain, busy, comparison, type Held } from './proof-state.ts';

const VERDICTS = {
  0: { word: 'Verified', kind: 'good' },
  1: { word: 'Not what was signed', kind: 'bad' },
  2: { word: 'Cannot be told', kind: 'open' },
} as const;

const LEVELS = {
  L0: 'signature',
  L1: 'request and answer',
  L2: 'files',
  L3: 'replay',
  L4: 'tolerant check',
} as const;

export function RecordView({
  held,
  checked,
  answer,
}: {
  held: Held;
  checked: Checked;
  answer: ComponentChildren;
}) {
  const { word, kind } = VERDICTS[checked.exitCode];
  const { level } = checked;
  return (
    <section class="record" aria-label="The record">
      <div class={`verdict ${kind}`} role="status">
        <p class="word">{word}</p>
        <p>
          {level === null ? held.from : `${held.from} · level ${level}, ${LEVELS[level]}`}
          <br />
          <code>sha256:{checked.payloadSha256.slice(0, 24)}…</code>
        </p>
      </div>
      {answer}
      <Findings list={checked.findings} />
      <Actions held={held} checked={checked} />
      {comparison.value === null ? null : (
        <section aria-label="Comparison">
          <h2>Asked again</h2>
          <Findings list={comparison.value} />
        </section>
      )}
      <Fields checked={checked} />
    </section>
  );
}

function Findings({ list }: { list: readonly Finding[] }) {
  return (
    <ul class="findings">
      {list.map(({ level, name, outcome, detail }) => (
        <li key={`${level} ${name} ${detail}`} class={outcome}>
          <span class="outcome">{outcome}</span>
          <strong>{name}</strong>
          <span>{inWordsOfThePage(detail)}</span>
        </li>
      ))}
    </ul>
  );
}

/** The verifier speaks to a terminal; here files are dropped. */
const inWordsOfThePage = (detail: string): string =>
  detail
    .replace(' (--request FILE)', '; drop it in to have it compared')
    .replace(/give (one|its public key) with --pubkey FILE/, 'drop the public key in')
    .replace(
      'give the output of evidence pubkey --history',
      'drop in the output of hearth evidence pubkey --history',
    );

function Actions({ held, checked }: { held: Held; checked: Checked }) {
  const isComparing = busy.value === 'comparing';
  const { request } = held;
  return (
    <div class="actions">
      {request === null || checked.statement === null ? null : (
        <button type="button" class="main" disabled={isComparing} onClick={() => void askAgain()}>
          {isComparing ? 'Answering' : 'Ask again and compare'}
        </button>
      )}
      <button type="button" onClick={() => saveFile('response.json', held.record)}>
        Save the record
      </button>
      {request === null ? null : (
        <button type="button" onClick={() => saveFile('request.json', request)}>
          Save the request
        </button>
      )}
      <details>
        <summary>Check it without this page</summary>
        <p class="hint">
          A full replay on another machine is the strongest check; it needs the saved files and the model.
        </p>
        <CodeBlock
          text="hearth evidence verify response.json --request request.json --replay"
          language="sh"
        />
      </details>
    </div>
  );
}

function Fields({ checked }: { checked: Checked }) {
  const { statement } = checked;
  if (statement === null) {
    return (
      <p class="hint">What nobody trusted has signed is not explained: anybody could have written it.</p>
    );
  }
  return (
    <section class="fields-of-record" aria-label="What the record says">
      <h2>What it says</h2>
      {explain(statement).map((part) => (
        <details key={part.name} open={part.name === 'output'}>
          <summary>
            <strong>{part.name}</strong> {part.meaning}
          </summary>
          <dl>
            {part.fields.map(({ name, value, meaning }) => (
              <div key={name}>
                <dt>
                  <code>{name}</code>
                  <small>{meaning}</small>
                </dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </details>
      ))}
      <details>
        <summary>
          <strong>payload</strong> The very text that is signed.
        </summary>
        <CodeBlock text={payloadText(checked)} language="json" />
      </details>
    </section>
  );
}
