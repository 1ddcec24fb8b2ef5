import type { Change } from 'diff';
import { useEffect, useState } from 'preact/hooks';
import { Dialog } from '../parts/dialog.tsx';
import { milliseconds, plural, rate } from '../parts/figures.ts';
import { comparedEntry } from './at-hand.ts';
import { siblingAnswers } from './talk/conversation.ts';
import { current } from './talk/conversations.ts';
import type { Entry } from './talk/entry.ts';

export function Differences() {
  const answers = siblingAnswers(current.value, comparedEntry.value ?? '');
  const at = answers.findIndex(({ id }) => id === comparedEntry.value);
  // By id: answers may be added or removed meanwhile.
  const [other, setOther] = useState(answers[at === 0 ? 1 : at - 1]?.id);
  const [own, setOwn] = useState(answers[Math.max(0, at)]?.id);
  const [a, b] = [other, own].map((wanted) => answers.find(({ id }) => id === wanted));
  const close = () => (comparedEntry.value = null);
  return (
    <Dialog title="What differs" onClose={close}>
      <div class="fields">
        <Choice label="From" answers={answers} chosen={other} onChange={setOther} />
        <Choice label="To" answers={answers} chosen={own} onChange={setOwn} />
      </div>
      {a === undefined || b === undefined ? null : <Compared key={`${a.id} ${b.id}`} a={a} b={b} />}
    </Dialog>
  );
}

interface ChoiceFacts {
  readonly label: string;
  readonly answers: readonly Entry[];
  readonly chosen: string | undefined;
  readonly onChange: (id: string) => void;
}

function Choice({ label, answers, chosen, onChange }: ChoiceFacts) {
  return (
    <label class="labelled">
      <span>{label}</span>
      <select value={chosen} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {answers.map(({ id, model = 'model' }, at) => (
          <option key={id} value={id}>
            {at + 1}: {model}
          </option>
        ))}
      </select>
      <small>{answerFigures(answers.find(({ id }) => id === chosen))}</small>
    </label>
  );
}

function answerFigures(entry: Entry | undefined): string {
  const { measures, text = '' } = entry ?? {};
  return [
    plural(text.split(/\s+/).filter((word) => word !== '').length, 'word'),
    ...(measures?.tokensPerSecond == null ? [] : [`${rate(measures.tokensPerSecond)} tokens/s`]),
    ...(measures?.firstMs == null ? [] : [`first word ${milliseconds(measures.firstMs)}`]),
  ].join(' · ');
}

/** A search for the fewest changes may take long if everything differs; the answers are then shown without marks. */
const MOST_MS = 500;

function Compared({ a, b }: { a: Entry; b: Entry }) {
  const [changes, setChanges] = useState<readonly Change[] | 'apart' | null>(null);
  useEffect(() => {
    void import('diff').then(({ diffWordsWithSpace }) =>
      setChanges(diffWordsWithSpace(a.text, b.text, { timeout: MOST_MS }) ?? 'apart'),
    );
  }, []);
  if (a.text === b.text) {
    return (
      <p class="same" role="status">
        The same, character for character.
      </p>
    );
  }
  if (changes === null) return null;
  if (changes === 'apart')
    return <p class="hint">The answers differ too much to be compared word by word.</p>;
  return (
    <p class="differences" role="region" aria-label="Differences" tabIndex={0}>
      {changes.map((change, at) => {
        const Tag = changeTag(change);
        return <Tag key={at}>{change.value}</Tag>;
      })}
    </p>
  );
}

function changeTag({ added, removed }: Change): 'ins' | 'del' | 'span' {
  if (added) return 'ins';
  return removed ? 'del' : 'span';
}
