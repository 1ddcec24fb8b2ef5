import { ShieldAlert, ShieldCheck, Square } from 'lucide';
import { Failure } from '../../parts/failure.tsx';
import { Icon, IconButton } from '../../parts/icon.tsx';
import type { Entry } from '../talk/entry.ts';
import { openProof, provings } from '../talk/proving.ts';

/** The seal of an answer that was proved; the progress of a proof; and the reason why it failed. */
export function ProofLine({ entry }: { entry: Entry }) {
  const state = provings.value[entry.id];
  return (
    <>
      {entry.proof === undefined ? null : <Seal proof={entry.proof} />}
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

function Seal({ proof }: { proof: NonNullable<Entry['proof']> }) {
  const { verdict, isVerified } = proof;
  return (
    <button
      type="button"
      class={isVerified ? 'seal good' : 'seal bad'}
      title="Signed by this service and checked in this browser. Open the record."
      onClick={() => void openProof(proof)}
    >
      <Icon of={isVerified ? ShieldCheck : ShieldAlert} />
      {verdict}
    </button>
  );
}
