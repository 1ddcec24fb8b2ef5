import { passportLines } from '../../src/server/api/passport/passport-lines.ts';
import { Failure } from '../parts/failure.tsx';
import { faults, passportPlace, passports, readPassport } from './models-state.ts';
import { Pair } from './pair.tsx';

/** All that is known of a model, in the words of `hearth show --passport`. Read when it is opened. */
export function PassportDetails({ id }: { id: string }) {
  const known = passports.value[id];
  return (
    <details
      onToggle={({ currentTarget }) => {
        if (currentTarget.open) void readPassport(id);
      }}
    >
      <summary>
        Passport<span class="unseen"> of {id}</span>
      </summary>
      <Failure text={faults.value[passportPlace(id)]} />
      {known === undefined ? null : (
        <dl class="pairs">
          {passportLines(known).map(([name, value], at) => (
            <Pair key={`${at} ${name}`} name={name} value={value} />
          ))}
        </dl>
      )}
    </details>
  );
}
