import { useState } from 'preact/hooks';
import { useAsked } from '../parts/asked.ts';
import { Failure } from '../parts/failure.tsx';
import { sentenceOf } from '../service/client.ts';
import { changeCurrent, current } from './talk/conversations.ts';
import { servers, toolsOf } from './talk/remote-tools.ts';
import type { ToolDraft } from './talk/settings.ts';

export function RemoteTools() {
  const [address, setAddress] = useState(servers.value[0] ?? '');
  const wanted = address.trim();
  const [asked, ask] = useAsked<string, readonly ToolDraft[]>();
  const { isBusy, value, error } = asked?.of === wanted ? asked : { isBusy: false };
  const found = isBusy ? undefined : value;
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
          disabled={isBusy || wanted === ''}
          onClick={() => ask(wanted, () => toolsOf(wanted))}
        >
          {isBusy ? 'Connecting…' : 'Find its tools'}
        </button>
      </div>
      <Failure text={error === undefined ? null : sentenceOf(error)} />
      {found?.length === 0 ? <p class="hint">This server has no tools.</p> : null}
      {(found ?? []).map((tool) => (
        <Choice key={tool.name} tool={tool} />
      ))}
    </details>
  );
}

function Choice({ tool }: { tool: ToolDraft }) {
  const isChosen = current.value.settings.tools.some(
    ({ name, from }) => name === tool.name && from?.server === tool.from?.server,
  );
  const toggle = () =>
    changeCurrent((now) => {
      const others = now.settings.tools.filter(({ name }) => name !== tool.name);
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
