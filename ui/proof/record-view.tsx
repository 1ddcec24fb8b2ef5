import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { isOfAnswer } from '../../src/trust/evidence/any-statement.ts';
import type { Finding } from '../../src/trust/evidence/verify.ts';
import { saveFile } from '../parts/files.ts';
import { CodeBlock } from '../text/code/code-block.tsx';
import { type Checked, headlineOf, payloadText } from './check.ts';
import { explain } from './explained.ts';
import { askAgain, busy, comparison, type Held } from './proof-state.ts';

const TONES = { 0: 'good', 1: 'bad', 2: 'open' } as const;

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
  const compared = comparison.value;
  const verdict = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { bottom = 0 } = verdict.current?.getBoundingClientRect() ?? {};
    if (bottom > innerHeight) verdict.current?.scrollIntoView({ block: 'center' });
  }, [checked]);
  const { level } = checked;
  return (
    <section class="record" aria-label="The record">
      <div class={`verdict ${TONES[checked.exitCode]}`} role="status" ref={verdict}>
        <p class="word">{headlineOf(checked)}</p>
        <p>
          {level === null ? held.from : `${held.from} · level ${level}, ${LEVELS[level]}`}
          <br />
          <code>sha256:{checked.payloadSha256.slice(0, 24)}…</code>
        </p>
      </div>
      {answer}
      <Findings list={checked.findings} />
      <Actions held={held} checked={checked} />
      {compared === null ? null : (
        <section aria-label="Comparison">
          <h2>Asked again: {comparedWords(compared)}</h2>
          <Findings list={compared} />
        </section>
      )}
      <Fields checked={checked} />
    </section>
  );
}

function comparedWords(findings: readonly Finding[]): string {
  if (findings.some(({ outcome }) => outcome === 'failed')) return 'the answer differs';
  return findings.some(({ outcome }) => outcome === 'incomparable')
    ? 'the two cannot be compared'
    : 'the same answer';
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

/** The verifier names options of a command; here files are chosen. */
const inWordsOfThePage = (detail: string): string =>
  detail
    .replace(/\bchosen by greedy\b/, 'chosen greedily')
    .replace(' (--request FILE)', '; choose it to have it compared')
    .replace(/give (one|its public key) with --pubkey FILE/, 'choose the public key')
    .replace(
      'give the output of evidence pubkey --history',
      'choose the output of hearth evidence pubkey --history',
    );

function Actions({ held, checked }: { held: Held; checked: Checked }) {
  const isComparing = busy.value === 'comparing';
  const { request } = held;
  return (
    <div class="actions">
      {request === null || !isFromChat(checked) ? null : (
        <button type="button" class="main" disabled={isComparing} onClick={() => void askAgain()}>
          {isComparing ? 'Answering…' : 'Ask again and compare'}
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
        <summary>Check it on the command line</summary>
        <p class="hint">
          The strongest check is a full replay on another machine. It needs the saved files, the model, and
          the public key: the output of <code>hearth evidence pubkey</code> here, saved as{' '}
          <code>hearth.pub</code>.
        </p>
        <CodeBlock
          text="hearth evidence verify response.json --request request.json --pubkey hearth.pub --replay"
          language="sh"
        />
      </details>
    </div>
  );
}

/** The page asks again there only. */
const isFromChat = ({ statement }: Checked): boolean =>
  statement !== null && isOfAnswer(statement) && statement.predicate.request.route === undefined;

function Fields({ checked }: { checked: Checked }) {
  const { statement } = checked;
  if (statement === null) {
    return (
      <p class="hint">
        The fields of this record are not shown: no trusted key signed it, so anybody could have written them.
      </p>
    );
  }
  return (
    <section class="fields-of-record" aria-label="What the record says">
      <h2>What the record says</h2>
      {explain(statement).map((part) => (
        <details key={part.name} open={part.name === 'output' || part.name === 'vectors'}>
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
          <strong>payload</strong> The exact text that was signed.
        </summary>
        <CodeBlock text={payloadText(checked)} language="json" />
      </details>
    </section>
  );
}
