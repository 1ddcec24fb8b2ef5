import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { Library } from '../../src/wire/operation/library.ts';
import { Failure } from '../parts/failure.tsx';
import { inSentence, plural } from '../parts/figures.ts';
import { faults, library, notes, pending, setAll, settingsPlace } from './models-state.ts';
import type { LibraryModel } from './words/base-model.ts';
import { SettingField } from './setting-field.tsx';
import { settingWords } from './words/settings.ts';

type Setting = Library['settable'][number];

/** Typed and not saved, by model: another view does not lose it. */
const typed = signal<Readonly<Record<string, Texts>>>({});

/** Every setting of a model with what it does, what holds now, and what would hold without it; saved together. */
export function SettingsEditor({ model }: { model: LibraryModel }) {
  const { id, texts } = model;
  const changed = typed.value[id] ?? {};
  const setChanged = (texts: Texts) => {
    typed.value = { ...typed.value, [id]: texts };
  };
  const [wanted, setWanted] = useState('');
  const { settable = [], groups = {} } = library.value ?? {};
  const place = settingsPlace(id);
  const names = Object.keys(changed).filter((name) => changed[name] !== (texts[name] ?? ''));
  const shown = settable.filter((setting) => isFor(setting, model.kind) && isFound(setting, wanted));
  const save = async (event: Event) => {
    event.preventDefault();
    const sent = Object.fromEntries(names.map((name) => [name, changed[name] ?? '']));
    await setAll(id, sent);
    // What was refused stays in its field, to be mended, and so does what was typed meanwhile.
    if (faults.value[place] === undefined) setChanged(without(typed.value[id] ?? {}, sent));
  };
  return (
    <form class="settings-of-model" aria-label={`Settings of ${id}`} onSubmit={(event) => void save(event)}>
      <label class="inline find">
        <span>Find a setting</span>
        <input type="search" value={wanted} onInput={({ currentTarget }) => setWanted(currentTarget.value)} />
      </label>
      {Object.entries(groups).map(([group, title]) => (
        <Group
          key={group}
          title={title}
          settings={shown.filter((setting) => setting.group === group)}
          isOpen={wanted !== '' || group === 'answers'}
          valueOf={(name) => changed[name] ?? texts[name] ?? ''}
          texts={texts}
          onChange={(name, text) => setChanged({ ...changed, [name]: text })}
        />
      ))}
      {shown.length === 0 ? <p class="hint">No setting matches "{wanted}".</p> : null}
      <footer>
        {names.length === 0 ? null : (
          <>
            <button type="submit" class="main small" disabled={pending.value.has(place)}>
              Save {names.map((name) => inSentence(settingWords(name))).join(', ')}
            </button>
            <button type="button" class="quiet small" onClick={() => setChanged({})}>
              Discard
            </button>
          </>
        )}
      </footer>
      <Outcome place={place} />
    </form>
  );
}

type Texts = Readonly<Record<string, string>>;
const without = (texts: Texts, sent: Texts): Texts =>
  Object.fromEntries(Object.entries(texts).filter(([name, text]) => sent[name] !== text));

const isFor = ({ models }: Setting, kind: string): boolean => models === 'all' || kind === models;

const isFound = ({ name, description }: Setting, wanted: string): boolean =>
  `${name} ${name.replaceAll('_', ' ')} ${settingWords(name)} ${description}`
    .toLowerCase()
    .includes(wanted.trim().toLowerCase());

interface GroupFacts {
  readonly title: string;
  readonly settings: readonly Setting[];
  readonly isOpen: boolean;
  readonly valueOf: (name: string) => string;
  readonly texts: Readonly<Record<string, string>>;
  readonly onChange: (name: string, text: string) => void;
}

function Group({ title, settings, isOpen, valueOf, texts, onChange }: GroupFacts) {
  if (settings.length === 0) return null;
  const set = settings.filter(({ name }) => texts[name] !== undefined).length;
  return (
    <details open={isOpen || set > 0}>
      <summary>
        {title}{' '}
        <small>{set === 0 ? plural(settings.length, 'setting') : `${set} of ${settings.length} set`}</small>
      </summary>
      <div class="setting-rows">
        {settings.map((setting) => (
          <SettingField
            key={setting.name}
            setting={setting}
            value={valueOf(setting.name)}
            isSet={texts[setting.name] !== undefined}
            onChange={(text) => onChange(setting.name, text)}
          />
        ))}
      </div>
    </details>
  );
}

function Outcome({ place }: { place: string }) {
  const fault = faults.value[place];
  const note = notes.value[place];
  return (
    <>
      {note === undefined ? null : <p role="status">{note}</p>}
      <Failure text={fault} />
    </>
  );
}
