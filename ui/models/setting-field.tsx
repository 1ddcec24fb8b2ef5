import { useId } from 'preact/hooks';
import type { Library } from '../../src/wire/operation/library.ts';
import { settingWords } from './words/settings.ts';

type Setting = Library['settable'][number];

interface FieldFacts {
  readonly setting: Setting;
  readonly value: string;
  /** Whether a value is saved, and not only typed. */
  readonly isSet: boolean;
  readonly onChange: (text: string) => void;
}

/** One setting: its name, what it does, and a field of its kind, in which the default shows while nothing is set. */
export function SettingField({ setting, value, isSet, onChange }: FieldFacts) {
  const { name, description, unset } = setting;
  const id = useId();
  return (
    <div class={isSet ? 'setting set' : 'setting'}>
      <label for={id}>
        {settingWords(name)} <code>{name}</code>
      </label>
      <p id={`${id}-about`}>
        {withCode(description)}
        {/* An empty field shows it itself. */}
        {value === '' && setting.input.kind !== 'lines' ? null : (
          <span class="default">Default: {withCode(unset)}.</span>
        )}
      </p>
      <div class="entered">
        <Field setting={setting} id={id} value={value} onChange={onChange} />
        {value === '' ? null : (
          <button
            type="button"
            class="quiet small"
            aria-label={`Clear ${settingWords(name)}`}
            onClick={() => onChange('')}
          >
            ×
          </button>
        )}
      </div>
    </div>
  );
}

function Field({ setting, id, value, onChange }: Omit<FieldFacts, 'isSet'> & { readonly id: string }) {
  const { input, unset } = setting;
  const placeholder = `default: ${unset.replaceAll('`', '')}`;
  const common = { id, value, 'aria-describedby': `${id}-about` };
  const changed = ({ currentTarget }: { currentTarget: { value: string } }) => onChange(currentTarget.value);
  switch (input.kind) {
    case 'choice':
      return (
        <select {...common} onChange={changed}>
          <option value="">{placeholder}</option>
          {(input.words ?? []).map((word) => (
            <option key={word}>{word}</option>
          ))}
        </select>
      );
    case 'number':
      return (
        <input
          {...common}
          type="number"
          min={input.least}
          max={input.most}
          step={input.is_whole === true ? 1 : 'any'}
          placeholder={placeholder}
          onInput={changed}
        />
      );
    case 'lines':
      return (
        <textarea {...common} rows={2} placeholder="one per line; \n is a line break" onInput={changed} />
      );
    case 'document':
      return (
        <>
          {input.words === undefined || input.words.length === 0 ? null : (
            <select
              aria-label={`Known values of ${settingWords(setting.name)}`}
              value={input.words.includes(value) ? value : ''}
              onChange={changed}
            >
              <option value="">{value === '' ? placeholder : 'a text of your own'}</option>
              {input.words.map((word) => (
                <option key={word}>{word}</option>
              ))}
            </select>
          )}
          <textarea
            {...common}
            rows={2}
            spellcheck={false}
            placeholder={placeholder}
            title={input.expects}
            onInput={changed}
          />
        </>
      );
    case 'text':
      return (
        <>
          <input
            {...common}
            list={`${id}-words`}
            spellcheck={false}
            placeholder={placeholder}
            title={input.expects}
            onInput={changed}
          />
          <datalist id={`${id}-words`}>
            {(input.words ?? []).map((word) => (
              <option key={word} value={word} />
            ))}
          </datalist>
        </>
      );
  }
}

export const withCode = (text: string) =>
  text.split('`').map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part));
