import { count, milliseconds, percent, rate } from '../parts/figures.ts';
import { TraceBar } from '../parts/trace-bar.tsx';
import type { Entry } from './talk/conversation.ts';
import { current } from './talk/playground-state.ts';

const ENDS = {
  stop: null,
  tool_calls: null,
  length: 'ended by the limit of tokens',
  stopped: 'stopped by you',
} as const;

/** What an answer took: one line of figures, and the bar that means the same in the engine room. */
export function Ledger({ entry }: { entry: Entry }) {
  const { measures, finish, remarks = [] } = entry;
  const model = isOneOfSeveral() ? entry.model : undefined;
  const end = finish === undefined ? null : ENDS[finish];
  return (
    <footer class="ledger">
      {measures === undefined ? null : (
        <TraceBar
          label={`${measures.cachedTokens} prompt tokens reused, ${measures.promptTokens - measures.cachedTokens} prefilled, ${measures.answerTokens} generated`}
          trace={{
            cached: measures.cachedTokens,
            prefilled: measures.promptTokens - measures.cachedTokens,
            generated: measures.answerTokens,
            drafted: measures.draftedTokens,
          }}
        />
      )}
      <ul>
        {model === undefined ? null : <li>{model}</li>}
        {measures?.firstMs == null ? null : <li>first token {milliseconds(measures.firstMs)}</li>}
        {measures?.tokensPerSecond == null ? null : <li>{rate(measures.tokensPerSecond)} tokens/s</li>}
        {measures === undefined ? null : <li>{cachedOf(measures.cachedTokens, measures.promptTokens)}</li>}
        {measures === undefined ? null : <li>{count(measures.answerTokens)} generated</li>}
        {end === null ? null : <li class="end">{end}</li>}
      </ul>
      {remarks.map((remark) => (
        <p key={remark} class="remark">
          {remark}
        </p>
      ))}
    </footer>
  );
}

/** Whether more than one model has a part in the conversation. */
const isOneOfSeveral = (): boolean =>
  new Set(current.value.entries.flatMap(({ model }) => model ?? [])).size > 1;

const cachedOf = (cached: number, all: number): string =>
  `${percent(all === 0 ? 0 : cached / all)} of ${count(all)} prompt tokens from the cache`;
