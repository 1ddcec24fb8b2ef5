import { CircleHelp } from 'lucide';
import { IconButton } from '../parts/icon.tsx';
import { identity } from '../service/known.ts';
import { isLocked, isReachable, needsKey } from '../service/client.ts';
import { storedKey } from '../service/key.ts';
import { isHelpOpen } from '../chat/at-hand.ts';
import { chooseTheme, type Theme, theme, THEMES } from './theme.ts';

export function Standing() {
  return (
    <div class="standing">
      <p
        class={isReachable.value && !isLocked.value ? 'state good' : 'state bad'}
        role="status"
        title={`The service at ${location.host}, and whether it answers; looked after every few seconds.`}
      >
        {stateOf()}
      </p>
      {isLocked.value || storedKey() !== null ? (
        <button type="button" class="quiet small" onClick={() => (needsKey.value = true)}>
          {isLocked.value ? 'Enter a key' : 'Use another key'}
        </button>
      ) : null}
      <IconButton icon={CircleHelp} name="Keyboard shortcuts" onClick={() => (isHelpOpen.value = true)} />
      <label class="theme">
        <span class="unseen">Colour scheme</span>
        <select
          value={theme.value}
          onChange={({ currentTarget }) => chooseTheme(currentTarget.value as Theme)}
        >
          {THEMES.map((each) => (
            <option key={each} value={each}>
              Theme: {each}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

function stateOf(): string {
  if (!isReachable.value) return 'not reachable';
  if (isLocked.value) return 'key required';
  const known = identity.value;
  return known === null ? 'connecting' : `running, ${known.version}`;
}
