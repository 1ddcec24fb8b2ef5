import { identity } from '../service/known.ts';
import { isReachable, needsKey } from '../service/client.ts';
import { chooseTheme, type Theme, theme, THEMES } from './theme.ts';

/** Which service this is, and whether it answers. */
export function Standing() {
  return (
    <div class="standing">
      <p class={isReachable.value ? 'state good' : 'state bad'} role="status">
        {stateOf()}
      </p>
      <p class="address">{location.host}</p>
      <label class="theme">
        <span class="unseen">Colours</span>
        <select
          value={theme.value}
          onChange={({ currentTarget }) => chooseTheme(currentTarget.value as Theme)}
        >
          {THEMES.map((each) => (
            <option key={each} value={each}>
              {each === 'system' ? 'as the system' : each}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

function stateOf(): string {
  if (!isReachable.value) return 'does not answer';
  if (needsKey.value) return 'asks for a key';
  const known = identity.value;
  if (known === null) return 'asking';
  return `${known.version} · boot ${known.boot_id.slice(0, 4)}`;
}
