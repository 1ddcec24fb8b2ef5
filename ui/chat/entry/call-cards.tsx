import { Play } from 'lucide';
import { useEffect } from 'preact/hooks';
import type { ToolCall } from '../../../src/wire/inference/tool-envelope.ts';
import { Failure } from '../../parts/failure.tsx';
import { IconButton } from '../../parts/icon.tsx';
import type { Place } from '../talk/answering.ts';
import { openCalls } from '../talk/conversation.ts';
import { current } from '../talk/conversations.ts';
import type { Entry } from '../talk/entry.ts';
import { findResult, findRun, runRemote, sendResults, typeResult } from '../talk/remote-calls.ts';
import { allow, isAllowed, mayGoOnUnasked, remoteOf } from '../talk/remote-tools.ts';
import type { RemoteTool } from '../talk/settings.ts';

interface Facts {
  readonly entry: Entry;
  readonly calls: readonly ToolCall[];
  readonly path: readonly Entry[];
  readonly lane: number;
  readonly isOpen: boolean;
}

/** Results of MCP tools are fetched once the user allows it; others are typed. */
export function CallCards({ entry, calls, path, lane, isOpen }: Facts) {
  if (calls.length === 0) return null;
  const open = isOpen ? openCalls(path) : [];
  const place = { conversation: current.value.id, lane, entry };
  return (
    <div class="calls">
      {calls.map((call) => {
        const isWaiting = open.some(({ id }) => id === call.id);
        const tool = isWaiting ? remoteOf(call, current.value.settings) : undefined;
        const result = isWaiting ? findResult(place, call.id) : undefined;
        return (
          <section key={call.id} class="call" aria-label={`Call of ${call.function.name}`}>
            <h3>
              <code>{call.function.name}</code>
            </h3>
            <pre tabIndex={0}>{pretty(call.function.arguments)}</pre>
            {tool === undefined || result !== undefined ? null : (
              <RemoteCall place={place} call={call} tool={tool} isUnaskedOk={mayGoOnUnasked(path)} />
            )}
            {isWaiting ? (
              <label>
                <span>Result</span>
                <textarea
                  rows={2}
                  placeholder="What the tool would return"
                  value={result ?? ''}
                  onInput={({ currentTarget }) => typeResult(place, call.id, currentTarget.value)}
                />
              </label>
            ) : null}
          </section>
        );
      })}
      {open.length === 0 ? null : (
        <>
          <button type="button" class="main small" onClick={() => sendResults(place)}>
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

interface RemoteFacts {
  readonly place: Place;
  readonly call: ToolCall;
  readonly tool: RemoteTool;
  readonly isUnaskedOk: boolean;
}

function RemoteCall({ place, call, tool, isUnaskedOk }: RemoteFacts) {
  const { conversation } = place;
  const state = findRun(place, call.id);
  const isRunning = typeof state === 'object' && 'abort' in state;
  const run = () => void runRemote(place, call, tool);
  useEffect(() => {
    if (state === undefined && isAllowed(conversation, tool) && isUnaskedOk) run();
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
      <Failure text={typeof state === 'object' && 'fault' in state ? state.fault : null} />
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
