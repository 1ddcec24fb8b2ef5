/**
 * ui/chat owns how conversations are shown and continued. It does not know how a request travels, nor what a service
 * can do.
 */
import { Failure } from '../parts/failure.tsx';
import { useLastEscape } from '../parts/escape.ts';
import { RecordingSign } from '../requests/recording-sign.tsx';
import { refreshRecording } from '../service/recording.ts';
import { useRecovery } from '../service/use-recovery.ts';
import { aside, comparedEntry, isCodeOpen } from './at-hand.ts';
import { Composer } from './composer.tsx';
import { CodeDialog } from './code-dialog.tsx';
import { Differences } from './differences.tsx';
import { LaneHead, LaneView } from './lane-view.tsx';
import { exportAll } from './rail/transfer.tsx';
import { SettingsPanel } from './settings-panel.tsx';
import { stopAll, takenOut, undoTakeOut } from './talk/answering.ts';
import { attachFiles } from './talk/attachments.ts';
import { current, draftName } from './talk/conversations.ts';
import { storageFault } from './talk/keeping.ts';
import { TalkHead } from './talk-head.tsx';

export function Chat() {
  const { id, lanes } = current.value;
  useRecovery(() => void refreshRecording());
  useLastEscape(stopAll);
  return (
    <div class={`chat with-${aside.value}`}>
      <h1 class="unseen">Chat</h1>
      <section
        class="talk"
        aria-label="Conversation"
        onDragOver={(event) => event.preventDefault()}
        onDrop={takeDrop}
      >
        <TalkHead />
        <div class="signs">
          <RecordingSign />
          <StorageSign />
        </div>
        <div class="lanes" style={{ '--lanes': String(lanes.length) }}>
          {lanes.map((lane, at) => (
            <article class="lane" key={`${id} ${at}`} aria-label={`Answers of ${lane.model}`}>
              {lanes.length > 1 ? <LaneHead lane={lane} at={at} /> : null}
              <LaneView lane={lane} at={at} />
            </article>
          ))}
        </div>
        <TakenOut />
        <Composer />
      </section>
      {aside.value === 'settings' ? <SettingsPanel /> : null}
      {isCodeOpen.value ? <CodeDialog /> : null}
      {comparedEntry.value === null ? null : <Differences />}
    </div>
  );
}

function takeDrop(event: DragEvent): void {
  event.preventDefault();
  void attachFiles(draftName.value, [...(event.dataTransfer?.files ?? [])]);
}

function StorageSign() {
  const fault = storageFault.value;
  if (fault === null) return null;
  return (
    <div class="storage-sign">
      <Failure text={fault} />
      <button type="button" class="small" onClick={exportAll}>
        Export conversations
      </button>
    </div>
  );
}

function TakenOut() {
  const taken = takenOut.value;
  if (taken === null || taken.from.id !== current.value.id) return null;
  const { length } = taken.entries;
  return (
    <p class="taken-out" role="status">
      <span>{length === 1 ? 'Message deleted.' : `${length} messages deleted.`}</span>
      <button type="button" class="small" onClick={undoTakeOut}>
        Undo
      </button>
    </p>
  );
}
