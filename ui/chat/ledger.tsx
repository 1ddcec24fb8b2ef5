import { count, milliseconds, percent, rate } from '../parts/figures.ts';
import { TraceBar } from '../parts/trace-bar.tsx';
import { DEFAULT_MODEL, modelNamed } from '../service/known.ts';
import { type EndFacts, endOf } from './talk/answer-end.ts';
import { type Entry, type Measures, pathTo } from './talk/conversation.ts';
import { current } from './talk/playground-state.ts';

/** What an answer took: one line of figures, and the bar that means the same in the engine room. */
export function Ledger({ entry }: { entry: Entry }) {
  const { measures, remarks = [] } = entry;
  const model = isOneOfSeveral() ? entry.model : undefined;
  const { words, warning } = endOf(entry, factsOf(entry));
  const figures = [
    ...(model === undefined ? [] : [model]),
    ...(measures === undefined ? [] : told(measures)),
  ];
  return (
    <footer class="ledger">
      {warning === null ? null : (
        <p class="warning" role="status">
          {warning}
        </p>
      )}
      {measures === undefined ? null : <Bar measures={measures} />}
      <ul>
        {figures.map((figure) => (
          <li key={figure}>{figure}</li>
        ))}
        {words === null ? null : <li class="end">{words}</li>}
      </ul>
      {remarks.map((remark) => (
        <p key={remark} class="remark">
          {remark}
        </p>
      ))}
    </footer>
  );
}

function factsOf({ model = DEFAULT_MODEL, measures, parent }: Entry): EndFacts {
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
      label={`${cached} prompt tokens reused, ${prefilled} prefilled, ${generated} generated`}
      trace={{ cached, prefilled, generated, drafted }}
    />
  );
}

function told({ firstMs, tokensPerSecond, promptTokens, cachedTokens = 0, ...rest }: Measures): string[] {
  const about = rest.isEstimate === true ? 'about ' : '';
  return [
    ...(firstMs === null ? [] : [`first token ${milliseconds(firstMs)}`]),
    ...(tokensPerSecond === null ? [] : [`${about}${rate(tokensPerSecond)} tokens/s`]),
    ...(promptTokens === undefined ? [] : [cachedOf(cachedTokens, promptTokens)]),
    `${about}${count(rest.answerTokens)} generated`,
  ];
}

/** Whether more than one model has a part in the conversation. */
const isOneOfSeveral = (): boolean =>
  new Set(current.value.entries.flatMap(({ model }) => model ?? [])).size > 1;

const cachedOf = (cached: number, all: number): string =>
  `${percent(all === 0 ? 0 : cached / all)} of ${count(all)} prompt tokens from the cache`;
