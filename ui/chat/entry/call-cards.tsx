import { Play } from 'lucide';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ToolCall } from '../../../src/wire/inference/tool-envelope.ts';
import { Failure } from '../../parts/failure.tsx';
import { IconButton } from '../../parts/icon.tsx';
import { isAbort, sentenceOf } from '../../service/client.ts';
import { answerCalls } from '../talk/answering.ts';
import { openCalls } from '../talk/conversation.ts';
import { current } from '../talk/conversations.ts';
import { draftNameBelow, draftOf, setDraft } from '../talk/drafts.ts';
import type { Entry } from '../talk/entry.ts';
import { allow, isAllowed, mayGoOnUnasked, remoteOf, runCall } from '../talk/remote-tools.ts';
import type { RemoteTool } from '../talk/settings.ts';

interface Facts {
  readonly calls: readonly ToolCall[];
  readonly path: readonly Entry[];
  readonly lane: number;
  readonly isOpen: boolean;
}

/** Results of MCP tools are fetched once the user allows it; others are typed. */
export function CallCards({ calls, path, lane, isOpen }: Facts) {
  const [results, setResults] = useState(() => typedResults(calls));
  // Servers answer at any time, after others have.
  const latest = useRef(results);
  if (calls.length === 0) return null;
  const open = isOpen ? openCalls(path) : [];
  const give = (all: Readonly<Record<string, string>>) => {
    for (const { id } of open) setDraft(draftNameBelow(current.value.id, id), '');
    answerCalls(
      lane,
      open.map(({ id }) => ({ callId: id, text: all[id] ?? '' })),
    );
  };
  const put = (id: string, text: string) => {
    latest.current = { ...latest.current, [id]: text };
    setResults(latest.current);
    setDraft(draftNameBelow(current.value.id, id), text);
  };
  // The last result of a server sends all results; results typed by hand are sent by hand.
  const returned = (id: string, text: string) => {
    put(id, text);
    if (open.every((call) => latest.current[call.id] !== undefined)) give(latest.current);
  };
  return (
    <div class="calls">
      {calls.map((call) => {
        const isWaiting = open.some(({ id }) => id === call.id);
        const tool = isWaiting ? remoteOf(call, current.value.settings) : undefined;
        return (
          <section key={call.id} class="call" aria-label={`Call of ${call.function.name}`}>
            <h3>
              <code>{call.function.name}</code>
            </h3>
            <pre tabIndex={0}>{pretty(call.function.arguments)}</pre>
            {tool === undefined || results[call.id] !== undefined ? null : (
              <RemoteCall
                call={call}
                tool={tool}
                isUnaskedOk={mayGoOnUnasked(path)}
                onResult={(text) => returned(call.id, text)}
              />
            )}
            {isWaiting ? (
              <label>
                <span>Result</span>
                <textarea
                  rows={2}
                  placeholder="What the tool would return"
                  value={results[call.id] ?? ''}
                  onInput={({ currentTarget }) => put(call.id, currentTarget.value)}
                />
              </label>
            ) : null}
          </section>
        );
      })}
      {open.length === 0 ? null : (
        <>
          <button type="button" class="main small" onClick={() => give(results)}>
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

function typedResults(calls: readonly ToolCall[]): Readonly<Record<string, string>> {
  const conversation = current.peek().id;
  return Object.fromEntries(
    calls.flatMap(({ id }) => {
      const text = draftOf(draftNameBelow(conversation, id));
      return text === '' ? [] : [[id, text]];
    }),
  );
}

interface RemoteFacts {
  readonly call: ToolCall;
  readonly tool: RemoteTool;
  readonly isUnaskedOk: boolean;
  readonly onResult: (text: string) => void;
}

function RemoteCall({ call, tool, isUnaskedOk, onResult }: RemoteFacts) {
  const [isRunning, setRunning] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const end = useRef(new AbortController());
  const conversation = current.value.id;
  const run = () => {
    end.current = new AbortController();
    setRunning(true);
    setFault(null);
    runCall(call, tool, end.current.signal)
      .then(onResult, (error: unknown) => setFault(isAbort(error) ? null : sentenceOf(error)))
      .finally(() => setRunning(false));
  };
  useEffect(() => {
    if (isAllowed(conversation, tool) && isUnaskedOk) run();
    return () => end.current.abort();
  }, []);
  const runAlways = () => {
    allow(conversation, tool);
    run();
  };
  return (
    <div class="actions">
      <p class="hint">This page would call {tool.server} with what is shown above.</p>
      <IconButton
        icon={Play}
        name={`Run ${tool.name}`}
        words={isRunning ? 'Running…' : 'Run'}
        disabled={isRunning}
        onClick={run}
      />
      <button type="button" class="small" disabled={isRunning} onClick={runAlways}>
        Always in this conversation
      </button>
      <Failure text={fault} />
    </div>
  );
}

/** Arguments are valid JSON only once the call is complete; until then they are shown raw. */
function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
