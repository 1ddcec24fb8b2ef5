import { X } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useEscape } from '../parts/escape.ts';
import { Failure } from '../parts/failure.tsx';
import { IconButton } from '../parts/icon.tsx';
import { aside } from './at-hand.ts';
import { PresetBar } from './preset-bar.tsx';
import { RemoteTools } from './remote-tools-view.tsx';
import { changeCurrent, current } from './talk/conversations.ts';
import {
  EFFORTS,
  faultOfJson,
  NUMBERS,
  SAMPLE_SCHEMA,
  SAMPLE_TOOL,
  type Settings,
  type ToolDraft,
} from './talk/settings.ts';

const set = (part: Partial<Settings>): void =>
  changeCurrent((now) => ({ ...now, settings: { ...now.settings, ...part } }));

export function SettingsPanel() {
  const { settings } = current.value;
  const close = () => (aside.value = 'none');
  useEscape(true, close);
  return (
    <aside class="side settings" aria-label="Settings of this conversation">
      <header>
        <h2>Settings</h2>
        <IconButton icon={X} name="Close settings" onClick={close} />
      </header>
      <p class="hint">For this conversation. A new one starts without them.</p>
      <PresetBar />
      <Field label="System prompt">
        <textarea
          rows={4}
          value={settings.system}
          placeholder="How the model should answer"
          onInput={({ currentTarget }) => set({ system: currentTarget.value })}
        />
      </Field>
      <Numbers settings={settings} />
      <Tools settings={settings} />
      <AnswerSchema settings={settings} />
    </aside>
  );
}

function Field({ label, hint, children }: { label: string; hint?: string; children: ComponentChildren }) {
  return (
    <label class="labelled">
      <span>{label}</span>
      {children}
      {hint === undefined ? null : <small>{hint}</small>}
    </label>
  );
}

function Numbers({ settings }: { settings: Settings }) {
  return (
    <fieldset>
      <legend>Sampling</legend>
      <p class="hint">Empty fields use the model's defaults.</p>
      <div class="numbers">
        {NUMBERS.map(({ field, label, step, hint }) => (
          <Field key={field} label={label} hint={hint}>
            <input
              type="number"
              inputMode="decimal"
              step={step}
              min={0}
              value={settings.numbers[field] ?? ''}
              onInput={({ currentTarget }) =>
                set({ numbers: { ...settings.numbers, [field]: currentTarget.value } })
              }
            />
          </Field>
        ))}
        <Field label="Reasoning" hint="for models that support it">
          <select
            value={settings.effort}
            onChange={({ currentTarget }) => set({ effort: currentTarget.value as Settings['effort'] })}
          >
            <option value="">default</option>
            {EFFORTS.map((effort) => (
              <option key={effort}>{effort}</option>
            ))}
          </select>
        </Field>
      </div>
      <Field label="Stop texts" hint="one per line; the answer ends before any of them">
        <textarea
          rows={2}
          value={settings.stop}
          onInput={({ currentTarget }) => set({ stop: currentTarget.value })}
        />
      </Field>
    </fieldset>
  );
}

function Tools({ settings }: { settings: Settings }) {
  const { tools } = settings;
  const change = (at: number, part: Partial<ToolDraft>) =>
    set({ tools: tools.map((tool, each) => (each === at ? { ...tool, ...part } : tool)) });
  return (
    <fieldset>
      <legend>Tools</legend>
      <p class="hint">
        The model can ask to call these. You enter the results by hand; tools of a server are run when you
        allow it.
      </p>
      <RemoteTools />
      {tools.map((tool, at) => (
        <ToolFields
          key={at}
          tool={tool}
          onChange={(part) => change(at, part)}
          onRemove={() => set({ tools: tools.filter((_, each) => each !== at) })}
        />
      ))}
      <div class="actions">
        <button type="button" class="small" onClick={() => set({ tools: [...tools, SAMPLE_TOOL] })}>
          Add a tool
        </button>
        {tools.length === 0 ? null : (
          <label class="inline">
            <span>Tool use</span>
            <select
              value={settings.toolChoice}
              onChange={({ currentTarget }) =>
                set({ toolChoice: currentTarget.value as Settings['toolChoice'] })
              }
            >
              <option value="auto">the model decides</option>
              <option value="required">always call a tool</option>
              <option value="none">never</option>
            </select>
          </label>
        )}
      </div>
      {tools.length > 0 && settings.toolChoice === 'required' ? (
        <p class="hint">After the result of a call, the model decides for itself whether to call again.</p>
      ) : null}
    </fieldset>
  );
}

function ToolFields({
  tool,
  onChange,
  onRemove,
}: {
  tool: ToolDraft;
  onChange: (part: Partial<ToolDraft>) => void;
  onRemove: () => void;
}) {
  const fault = faultOfJson(tool.parameters);
  if (tool.from !== undefined) {
    return (
      <div class="tool-draft">
        <p>
          <code>{tool.name}</code> <small>of {tool.from.server}</small>
        </p>
        <button type="button" class="quiet small" onClick={onRemove}>
          Remove {tool.name}
        </button>
      </div>
    );
  }
  return (
    <div class="tool-draft">
      <Field label="Name">
        <input
          value={tool.name}
          spellcheck={false}
          onInput={({ currentTarget }) => onChange({ name: currentTarget.value })}
        />
      </Field>
      <Field label="Description">
        <input
          value={tool.description}
          onInput={({ currentTarget }) => onChange({ description: currentTarget.value })}
        />
      </Field>
      <Field label="Parameters (JSON Schema)">
        <textarea
          class="mono"
          rows={5}
          spellcheck={false}
          value={tool.parameters}
          aria-invalid={fault !== null}
          onInput={({ currentTarget }) => onChange({ parameters: currentTarget.value })}
        />
      </Field>
      <Failure text={fault} isWhileTyping />
      <button type="button" class="quiet small" onClick={onRemove}>
        Remove {tool.name}
      </button>
    </div>
  );
}

function AnswerSchema({ settings: { schema } }: { settings: Settings }) {
  const fault = schema.trim() === '' ? null : faultOfJson(schema);
  return (
    <fieldset>
      <legend>Answer format</legend>
      <Field label="JSON Schema" hint="A complete answer is always JSON that matches this schema.">
        <textarea
          class="mono"
          rows={schema === '' ? 2 : 7}
          spellcheck={false}
          value={schema}
          placeholder="leave empty for plain text"
          aria-invalid={fault !== null}
          onInput={({ currentTarget }) => set({ schema: currentTarget.value })}
        />
      </Field>
      <Failure text={fault} isWhileTyping />
      <button type="button" class="small" onClick={() => set({ schema: schema === '' ? SAMPLE_SCHEMA : '' })}>
        {schema === '' ? 'Insert an example' : 'Clear'}
      </button>
    </fieldset>
  );
}
