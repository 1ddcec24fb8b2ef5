import { Trash2 } from 'lucide';
import { useState } from 'preact/hooks';
import { AskingButton } from '../parts/asking-button.tsx';
import { pending, remove } from './models-state.ts';

export function RemoveButton({ id, question }: { id: string; question: string }) {
  const [isAsking, setAsking] = useState(false);
  return (
    <AskingButton
      icon={Trash2}
      about={`Remove ${id}`}
      name="Remove"
      words="Remove"
      question={question}
      yes={`Remove ${id}`}
      no="Keep it"
      isAsking={isAsking}
      onAsk={setAsking}
      isBusy={pending.value.has(id)}
      onYes={() => void remove(id)}
    />
  );
}
