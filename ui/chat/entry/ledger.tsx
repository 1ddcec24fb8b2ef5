import { count, milliseconds, percent, rate } from '../../parts/figures.ts';
import { TraceBar } from '../../parts/trace-bar.tsx';
import { DEFAULT_MODEL, modelNamed, resolved } from '../../service/known.ts';
import { type EndFacts, endOf } from '../talk/answer-end.ts';
import { pathTo } from '../talk/conversation.ts';
import { current } from '../talk/conversations.ts';
import type { Entry, Measures } from '../talk/entry.ts';

export function Warning({ entry }: { entry: Entry }) {
  const { warning } = endOf(entry, endFacts(entry));
  return warning === null ? null : (
    <p class="warning" role="status">
      {warning}
    </p>
  );
}

export function Ledger({ entry }: { entry: Entry }) {
  const { measures, remarks = [], isEdited = false } = entry;
  const { words } = endOf(entry, endFacts(entry));
  const first = [
    ...(isAmbiguous(entry) && entry.model !== undefined ? [entry.model] : []),
    ...(isEdited ? ['edited by you'] : []),
    ...(measures === undefined ? [] : shortFigures(measures)),
  ];
  if (first.length === 0 && words === null && remarks.length === 0) return <span />;
  return (
    <details class="ledger">
      <summary title="What this answer took">
        {first.join(' · ')}
        {words === null ? null : (
          <span class="end">
            {first.length === 0 ? '' : ' · '}
            {words}
          </span>
        )}
        {first.length === 0 && words === null ? 'Remarks' : ''}
      </summary>
      {measures === undefined ? null : <Bar measures={measures} />}
      {measures === undefined ? null : <p>{measureWords(measures).join(' · ')}</p>}
      {remarks.map((remark) => (
        <p key={remark} class="remark">
          {remark}
        </p>
      ))}
    </details>
  );
}

function endFacts({ model = DEFAULT_MODEL, measures, parent }: Entry): EndFacts {
  const largest = modelNamed(model)?.context_length;
  return {
    isWindowLargest: largest !== undefined && (measures?.window ?? 0) >= largest,
    isConversationNew: pathTo(current.value, parent).length < 2,
  };
}

function Bar({ measures }: { measures: Measures }) {
  const {
    cachedTokens: cached = 0,
    promptTokens = 0,
    answerTokens: generated,
    draftedTokens: drafted,
  } = measures;
  const prefilled = promptTokens - cached;
  return (
    <TraceBar
      label={`${cached} prompt tokens reused, ${prefilled} processed, ${generated} generated`}
      trace={{ cached, prefilled, generated, drafted }}
    />
  );
}

const aboutWord = ({ isEstimate }: Measures): string => (isEstimate === true ? 'about ' : '');

function shortFigures(measures: Measures): string[] {
  const { firstMs, tokensPerSecond, promptTokens = 0, cachedTokens = 0 } = measures;
  const share = promptTokens === 0 ? 0 : cachedTokens / promptTokens;
  return [
    ...(tokensPerSecond === null ? [] : [`${aboutWord(measures)}${rate(tokensPerSecond)} tokens/s`]),
    ...(firstMs === null ? [] : [`first word ${milliseconds(firstMs)}`]),
    ...(share < 0.005 ? [] : [`${percent(share)} reused`]),
  ];
}

function measureWords(measures: Measures): string[] {
  const { promptTokens, cachedTokens = 0, answerTokens, draftedTokens, window } = measures;
  return [
    ...(promptTokens === undefined
      ? []
      : [`${count(promptTokens)} prompt tokens, ${count(cachedTokens)} of them reused`]),
    `${aboutWord(measures)}${count(answerTokens)} generated`,
    ...(draftedTokens === 0 ? [] : [`${count(draftedTokens)} of them drafted`]),
    ...(window === undefined ? [] : [`window ${count(window)}`]),
  ];
}

const isAmbiguous = ({ model }: Entry): boolean =>
  new Set(
    [...current.value.entries, ...current.value.lanes].flatMap((each) => resolved(each.model ?? model ?? '')),
  ).size > 1;
