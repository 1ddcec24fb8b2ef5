import { Diff, Ellipsis, GitBranch, Pencil, Play, RotateCw, ShieldCheck, Trash2 } from 'lucide';
import { CopyButton } from '../../parts/copy-button.tsx';
import { IconButton } from '../../parts/icon.tsx';
import { Menu } from '../../parts/menu.tsx';
import { chatModels } from '../../service/known.ts';
import { comparedEntry } from '../at-hand.ts';
import { goOn, isAnswering, retry, takeOut } from '../talk/answering.ts';
import { branchAt, siblingAnswers } from '../talk/conversation.ts';
import { add, current } from '../talk/conversations.ts';
import type { Entry } from '../talk/entry.ts';
import { canProve, isProving, prove } from '../talk/proving.ts';
import { Pager } from './pager.tsx';

interface Facts {
  readonly entry: Entry;
  readonly lane: number;
  readonly onEdit: () => void;
}

export function AnswerActions({ entry, lane, onEdit }: Facts) {
  const isBusy = isAnswering.value;
  const branch = () => add([branchAt(current.value, { model: entry.model ?? 'default', leaf: entry.id })]);
  const others = chatModels.value.filter(({ id }) => id !== entry.model);
  return (
    <div class="tools">
      <Pager entry={entry} lane={lane} />
      {canGoOn(entry) ? (
        <IconButton
          icon={Play}
          name="Continue this answer"
          words="Continue"
          disabled={isBusy}
          onClick={() => goOn(lane, entry)}
        />
      ) : null}
      <CopyButton text={entry.text} isSmall />
      <IconButton icon={RotateCw} name="Try again" disabled={isBusy} onClick={() => retry(lane, entry)} />
      <IconButton icon={Pencil} name="Edit the answer" disabled={isBusy} onClick={onEdit} />
      {canProve(entry) && entry.proof === undefined ? (
        <IconButton
          icon={ShieldCheck}
          name="Prove"
          words="Prove"
          disabled={isBusy || isProving(entry)}
          onClick={() => void prove(lane, entry)}
        />
      ) : null}
      {siblingAnswers(current.value, entry.id).length > 1 ? (
        <IconButton
          icon={Diff}
          name="What differs"
          words="Differs"
          onClick={() => (comparedEntry.value = entry.id)}
        />
      ) : null}
      <IconButton icon={GitBranch} name="Continue in a new conversation" onClick={branch} />
      <Menu
        icon={Ellipsis}
        name="More"
        items={[
          ...(isBusy
            ? []
            : others.map(({ id }) => ({
                name: `Try again with ${id}`,
                icon: RotateCw,
                onClick: () => retry(lane, entry, id),
              }))),
          { name: 'Delete this and what follows', icon: Trash2, onClick: () => takeOut(entry) },
        ]}
      />
    </div>
  );
}

const canGoOn = ({ finish, text, failure }: Entry): boolean =>
  text !== '' && (finish === 'length' || finish === 'stopped' || finish === 'cut' || failure !== undefined);
