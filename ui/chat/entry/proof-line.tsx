import { Shield, ShieldAlert, ShieldCheck, Square } from 'lucide';
import { addressOf } from '../../parts/address.ts';
import { Failure } from '../../parts/failure.tsx';
import { Icon, IconButton } from '../../parts/icon.tsx';
import type { Entry } from '../talk/entry.ts';
import { findProving } from '../talk/proving.ts';

export function ProofLine({ entry }: { entry: Entry }) {
  const state = findProving(entry);
  return (
    <>
      {entry.proof === undefined ? null : <Seal id={entry.id} proof={entry.proof} />}
      {state !== undefined && 'abort' in state ? (
        <p class="proving" role="status">
          Answering once more, signed…{' '}
          <IconButton icon={Square} name="Stop" words="Stop" onClick={() => state.abort.abort()} />
        </p>
      ) : null}
      {state !== undefined && 'fault' in state ? <Failure text={state.fault} /> : null}
    </>
  );
}

function Seal({ id, proof }: { id: string; proof: NonNullable<Entry['proof']> }) {
  const { verdict, isVerified, isUnchecked } = proof;
  const judged = isVerified ? (['good', ShieldCheck] as const) : (['bad', ShieldAlert] as const);
  const [tone, icon] = isUnchecked === true ? (['open', Shield] as const) : judged;
  return (
    <a
      class={`seal ${tone}`}
      title={
        isUnchecked === true
          ? 'Open the record, and check it in this browser.'
          : 'Signed by this service and checked in this browser. Open the record.'
      }
      href={addressOf('proof', id)}
    >
      <Icon of={icon} />
      {verdict}
    </a>
  );
}
