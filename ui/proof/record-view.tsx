import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { isOfAnswer } from '../../src/trust/evidence/any-statement.ts';
import type { Finding } from '../../src/trust/evidence/verify.ts';
import { proofFileText } from '../../src/trust/evidence/proof-file.ts';
import { fileName, saveFile } from '../parts/files.ts';
import { CodeBlock } from '../text/code/code-block.tsx';
import { type Checked, headlineOf, payloadText } from './check.ts';
import { explain } from './explained.ts';
import { askAgain, busy, type Held, keyFor } from './proof-state.ts';

const TONES = { 0: 'good', 1: 'bad', 2: 'open' } as const;
/** Not green if an unknown key signed it, or no request was compared. */
const chooseTone = ({ exitCode, level, isKeyEnclosed }: Checked) =>
  exitCode === 0 && (level === 'L0' || isKeyEnclosed === true) ? 'open' : TONES[exitCode];

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
  comparison,
  answer,
}: {
  held: Held;
  checked: Checked;
  comparison: readonly Finding[] | null;
  answer: ComponentChildren;
}) {
  const verdict = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { bottom = 0 } = verdict.current?.getBoundingClientRect() ?? {};
    if (bottom > innerHeight) verdict.current?.scrollIntoView({ block: 'center' });
  }, [checked]);
  const { level } = checked;
  return (
    <section class="record" aria-label="The record">
      <div class={`verdict ${chooseTone(checked)}`} role="status" ref={verdict}>
        <p class="word">{headlineOf(checked)}</p>
        <p>
          {level === null ? held.from : `${held.from} · level ${level}, ${LEVELS[level]}`}
          <br />
          <code>sha256:{checked.payloadSha256.slice(0, 24)}…</code>
        </p>
      </div>
      {checked.isKeyEnclosed === true ? (
        <p class="trust">
          It was checked by the key in this file, which anybody could have put there. Ask the issuer whether
          it is theirs: compare <code>{readKeyId(checked)}</code> with their output of{' '}
          <code>hearth evidence pubkey --fingerprint</code>.
        </p>
      ) : null}
      {answer}
      <Findings list={checked.findings} />
      <Actions held={held} checked={checked} />
      {comparison === null ? null : (
        <section aria-label="Comparison">
          <h2>Asked again: {comparedWords(comparison)}</h2>
          <Findings list={comparison} />
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

/** The verifier names options of a command; the page has files instead. */
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
  const { record, request, subject } = held;
  const file = fileName('proof', subject);
  const save = () => saveFile(file, proofFileText({ record, request, publicKey: keyFor(held, checked) }));
  return (
    <div class="actions">
      {request === null || !isFromChat(checked) ? null : (
        <button type="button" class="main" disabled={isComparing} onClick={() => void askAgain()}>
          {isComparing ? 'Answering…' : 'Ask again and compare'}
        </button>
      )}
      <button type="button" onClick={save}>
        Save the proof
      </button>
      <details>
        <summary>Check it on the command line</summary>
        <p class="hint">
          The saved file holds the answer with its record, the request and the public key. The strongest check
          is a full replay on another machine, which needs the model. <code>--pubkey</code> trusts the key in
          the file.
        </p>
        <CodeBlock text={`hearth evidence verify ${file} --pubkey ${file} --replay`} language="sh" />
      </details>
    </div>
  );
}

const readKeyId = ({ record }: Checked): string => record.envelope.signatures[0]?.keyid ?? '';

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
