import { useState } from 'preact/hooks';
import { Failure } from '../parts/failure.tsx';
import { sentenceOf } from '../service/client.ts';
import { changeCurrent, current } from './talk/conversations.ts';
import { servers, toolsOf } from './talk/remote-tools.ts';
import type { ToolDraft } from './talk/settings.ts';

export function RemoteTools() {
  const [address, setAddress] = useState(servers.value[0] ?? '');
  const [found, setFound] = useState<readonly ToolDraft[] | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const look = async () => {
    setBusy(true);
    setFault(null);
    try {
      setFound(await toolsOf(address.trim()));
    } catch (error) {
      setFound(null);
      setFault(sentenceOf(error));
    }
    setBusy(false);
  };
  return (
    <details class="remote-tools">
      <summary>Tools of an MCP server</summary>
      <div class="actions">
        <label class="labelled">
          <span>Address of the server</span>
          <input
            type="url"
            value={address}
            list="mcp-servers"
            spellcheck={false}
            placeholder="http://127.0.0.1:3001/mcp"
            onInput={({ currentTarget }) => setAddress(currentTarget.value)}
          />
        </label>
        <datalist id="mcp-servers">
          {servers.value.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
        <button
          type="button"
          class="small"
          disabled={isBusy || address.trim() === ''}
          onClick={() => void look()}
        >
          {isBusy ? 'Connecting…' : 'Find its tools'}
        </button>
      </div>
      <Failure text={fault} />
      {found?.length === 0 ? <p class="hint">This server has no tools.</p> : null}
      {(found ?? []).map((tool) => (
        <Choice key={tool.name} tool={tool} />
      ))}
    </details>
  );
}

const isSame = (a: ToolDraft, b: ToolDraft): boolean => a.name === b.name;

function Choice({ tool }: { tool: ToolDraft }) {
  const isChosen = current.value.settings.tools.some((each) => isSame(each, tool) && each.from !== undefined);
  const toggle = () =>
    changeCurrent((now) => {
      const others = now.settings.tools.filter((each) => !isSame(each, tool));
      return { ...now, settings: { ...now.settings, tools: isChosen ? others : [...others, tool] } };
    });
  return (
    <label class="inline">
      <input type="checkbox" checked={isChosen} onChange={toggle} />
      <span>
        <code>{tool.name}</code> <small>{tool.description.slice(0, 200)}</small>
      </span>
    </label>
  );
}
