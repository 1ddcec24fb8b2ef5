import { X } from 'lucide';
import { inSentence } from '../parts/figures.ts';
import { Icon } from '../parts/icon.tsx';
import { aside } from './at-hand.ts';
import { changeCurrent, current, leftSettings } from './talk/conversations.ts';
import { activeSettings, type Settings } from './talk/settings.ts';

const change = (part: Partial<Settings>): void =>
  changeCurrent((now) => ({ ...now, settings: { ...now.settings, ...part } }));

export function ActiveSettings() {
  const { settings, entries } = current.value;
  const active = activeSettings(settings);
  if (active.length > 0) {
    return (
      <ul class="active-settings" aria-label="Settings in use">
        {active.map(({ words, cleared }) => (
          <li key={words}>
            <button type="button" class="set" onClick={() => (aside.value = 'settings')}>
              {words}
            </button>
            <button type="button" class="clear" aria-label={`Clear ${words}`} onClick={() => change(cleared)}>
              <Icon of={X} />
            </button>
          </li>
        ))}
      </ul>
    );
  }
  const left = leftSettings.value;
  if (left === null || entries.length > 0) return null;
  const names = activeSettings(left).map(({ words }) => inSentence(words));
  return (
    <p class="active-settings">
      <span>A new conversation starts without settings.</span>
      <button type="button" class="quiet small" onClick={() => change(left)}>
        Reuse {names.join(', ')}
      </button>
    </p>
  );
}
