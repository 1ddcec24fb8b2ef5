import { useState } from 'preact/hooks';
import type { ToolCall } from '../../../src/wire/inference/tool-envelope.ts';
import { answerCalls } from '../talk/answering.ts';
import { openCalls } from '../talk/conversation.ts';
import { current } from '../talk/conversations.ts';
import type { Entry } from '../talk/entry.ts';

/** The calls of an answer as the model wrote them, and a place for their results. Nothing is run here. */
export function CallCards({
  calls,
  path,
  lane,
  isOpen,
}: {
  calls: readonly ToolCall[];
  path: readonly Entry[];
  lane: number;
  isOpen: boolean;
}) {
  const [results, setResults] = useState<Readonly<Record<string, string>>>({});
  if (calls.length === 0) return null;
  const open = isOpen ? openCalls(path) : [];
  const send = () =>
    answerCalls(
      lane,
      open.map(({ id }) => ({ callId: id, text: results[id] ?? '' })),
    );
  return (
    <div class="calls">
      {calls.map((call) => (
        <section key={call.id} class="call" aria-label={`Call of ${call.function.name}`}>
          <h3>
            <code>{call.function.name}</code>
          </h3>
          <pre tabIndex={0}>{pretty(call.function.arguments)}</pre>
          {open.some(({ id }) => id === call.id) ? (
            <label>
              <span>Result</span>
              <textarea
                rows={2}
                placeholder="What the tool would return"
                value={results[call.id] ?? ''}
                onInput={({ currentTarget }) => setResults({ ...results, [call.id]: currentTarget.value })}
              />
            </label>
          ) : null}
        </section>
      ))}
      {open.length === 0 ? null : (
        <>
          <button type="button" class="main small" onClick={send}>
            {open.length === 1 ? 'Send the result' : 'Send the results'}
          </button>
          {current.value.settings.toolChoice === 'required' ? (
            <p class="hint">"Always call a tool" does not apply to what follows: the model decides.</p>
          ) : null}
        </>
      )}
    </div>
  );
}

/** Arguments are whole JSON once the call is; while it grows they are shown as they come. */
function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
