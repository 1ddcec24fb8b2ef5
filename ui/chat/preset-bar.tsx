import { Trash2 } from 'lucide';
import { useState } from 'preact/hooks';
import { Failure } from '../parts/failure.tsx';
import { IconButton } from '../parts/icon.tsx';
import { DEFAULT_MODEL, isLocal, modelNamed } from '../service/known.ts';
import { changeCurrent, current } from './talk/conversations.ts';
import { canBeDefaults, defaultsSaid, makeDefaults } from './talk/model-defaults.ts';
import { presetFault, presets, removePreset, savePreset } from './talk/presets.ts';
import { activeSettings } from './talk/settings.ts';

const MOST_NAME = 60;

export function PresetBar() {
  const [name, setName] = useState('');
  const { settings } = current.value;
  const inUse = presets.value.find((each) => JSON.stringify(each.settings) === JSON.stringify(settings));
  const use = (wanted: string) => {
    const preset = presets.value.find((each) => each.name === wanted);
    if (preset !== undefined) changeCurrent((now) => ({ ...now, settings: preset.settings }));
  };
  const save = (event: Event) => {
    event.preventDefault();
    savePreset(name.trim(), settings);
    setName('');
  };
  return (
    <section class="presets" aria-label="Presets">
      {presets.value.length === 0 ? null : (
        <div class="actions">
          <label class="inline">
            <span>Preset</span>
            <select value={inUse?.name ?? ''} onChange={({ currentTarget }) => use(currentTarget.value)}>
              <option value="">none</option>
              {presets.value.map((each) => (
                <option key={each.name}>{each.name}</option>
              ))}
            </select>
          </label>
          {inUse === undefined ? null : (
            <IconButton
              icon={Trash2}
              name={`Remove the preset ${inUse.name}`}
              onClick={() => removePreset(inUse.name)}
            />
          )}
        </div>
      )}
      <form class="actions" onSubmit={save}>
        <label class="inline">
          <span>Keep these as</span>
          <input
            value={name}
            required
            maxLength={MOST_NAME}
            placeholder="Reviewer"
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        </label>
        <button
          type="submit"
          class="small"
          disabled={name.trim() === '' || activeSettings(settings).length === 0}
        >
          Save preset
        </button>
      </form>
      <ModelDefaults />
      <Failure text={presetFault.value} />
    </section>
  );
}

function ModelDefaults() {
  const { id, settings, lanes } = current.value;
  const model = modelNamed(lanes[0]?.model ?? DEFAULT_MODEL);
  if (model === undefined || !isLocal(model)) return null;
  const said = defaultsSaid(id, model.id);
  return (
    <>
      <button
        type="button"
        class="small"
        title="Keeps system prompt, sampling and stop texts with the model, for all its clients (hearth set)"
        disabled={!canBeDefaults(settings)}
        onClick={() => void makeDefaults(current.value, model.id)}
      >
        Make these the defaults of {model.id}
      </button>
      {said !== null && 'note' in said ? (
        <p class="hint" role="status">
          {said.note}
        </p>
      ) : null}
      <Failure text={said !== null && 'fault' in said ? said.fault : null} />
    </>
  );
}
