import { ArrowUp, Paperclip, Square } from 'lucide';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Failure } from '../parts/failure.tsx';
import { count } from '../parts/figures.ts';
import { Icon } from '../parts/icon.tsx';
import { sentenceOf } from '../service/client.ts';
import { chatModels, modelNamed } from '../service/known.ts';
import { ActiveSettings } from './active-settings.tsx';
import { AttachmentChips } from './attachment-chips.tsx';
import { focusMessage, MESSAGE_FIELD } from './at-hand.ts';
import { useGauge } from './gauge.ts';
import { isAnswering, say, stopAll } from './talk/answering.ts';
import {
  attachedTo,
  findAttachFault,
  attachFiles,
  attachPaste,
  attachedImages,
  isReadingFor,
  sentFile,
  setAttached,
  setAttachFault,
  type WaitingFile,
  withAttached,
} from './talk/attachments.ts';
import { openCalls, pathTo, withModel } from './talk/conversation.ts';
import {
  begins,
  changeCurrent,
  current,
  draftName as nameOfDraft,
  isRestored,
} from './talk/conversations.ts';
import { draftFault, draftOf, setDraft } from './talk/drafts.ts';
import {
  embeddingModel,
  isToSearch,
  leastWindow,
  searches,
  searchFiles,
  toggleSearch,
} from './talk/searching.ts';
import { LEAST_CHARS } from './talk/passages.ts';
import { SearchLine } from './search-line.tsx';
import { faultOf } from './talk/settings.ts';
import { sightFault } from './talk/sight.ts';

/** Enter sends, Shift and Enter begin a line, the arrow up restores the last message. */
export function Composer() {
  const field = useRef<HTMLTextAreaElement>(null);
  const { id, lanes, settings } = current.value;
  const draftName = nameOfDraft.value;
  const text = draftOf(draftName);
  const fault = faultOf(settings);
  const waits = lanes.some(({ leaf }) => openCalls(pathTo(current.value, leaf)).length > 0);
  const files = attachedTo(draftName);
  const isEmpty = text.trim() === '' && files.length === 0;
  const isBlind =
    attachedImages(files).length > 0 && sightFault(lanes.map(({ model }) => modelNamed(model))) !== null;
  const isReading = isReadingFor(draftName);
  const search = searches.value[draftName];
  const hasNoQuestion = files.some(isToSearch) && text.trim() === '';
  const cannot =
    isAnswering.value ||
    fault !== null ||
    waits ||
    isEmpty ||
    isBlind ||
    isReading ||
    hasNoQuestion ||
    search !== undefined;
  useFocusAtStart(id);
  const deliver = (found: readonly WaitingFile[]) => {
    say(text, found.map(sentFile), id);
    setDraft(draftName, '');
    // Files attached during a search are kept for the next message.
    setAttached(
      draftName,
      attachedTo(draftName).filter(({ id: each }) => !files.some((file) => file.id === each)),
    );
    if (current.peek().id === id) field.current?.focus();
  };
  const isDue = useRef(false);
  const send = () => {
    if (!isRestored.value) isDue.current = true;
    if (cannot || !isRestored.value) return;
    setAttachFault(draftName, null);
    if (!files.some(isToSearch)) return deliver(files);
    const window = leastWindow(lanes);
    searchFiles({ conversation: id, entry: null, draft: draftName, question: text, files, window }).then(
      (found) => found !== null && deliver(found),
      (error: unknown) => setAttachFault(draftName, sentenceOf(error)),
    );
  };
  useEffect(() => {
    if (isRestored.value && isDue.current) send();
    isDue.current = false;
  }, [isRestored.value]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing || event.shiftKey) return;
    if (event.key === 'Enter') send();
    else if (event.key === 'ArrowUp' && text === '') setDraft(draftName, lastSaid());
    else return;
    event.preventDefault();
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <Failure text={fault} isWhileTyping />
      <ActiveSettings />
      <Failure text={findAttachFault(draftName)} />
      <Failure text={draftFault(draftName)} />
      {isBlind ? <Blind /> : null}
      <div class="field">
        <AttachmentChips
          files={files}
          onRemove={(at) =>
            setAttached(
              draftName,
              files.filter((_, each) => each !== at),
            )
          }
          onSearch={(at) =>
            setAttached(
              draftName,
              files.map((file, each) => (each === at ? toggleSearch(file) : file)),
            )
          }
        />
        {isReading ? (
          <p class="hint" role="status">
            Reading the files…
          </p>
        ) : null}
        {search === undefined ? null : <SearchLine search={search} />}
        <label>
          <span class="unseen">Your message</span>
          <textarea
            id={MESSAGE_FIELD}
            ref={field}
            rows={1}
            value={text}
            readOnly={search !== undefined}
            placeholder={waits ? 'First enter the result of the tool call above' : 'Ask anything'}
            onInput={({ currentTarget }) => setDraft(draftName, currentTarget.value)}
            onKeyDown={onKeyDown}
            onPaste={(event) => takePaste(event, draftName)}
          />
        </label>
        <div class="field-foot">
          <AttachButton draft={draftName} />
          <WindowGauge
            canNarrow={embeddingModel() !== undefined && files.some(canNarrow)}
            draft={withAttached(
              text,
              files.filter((file) => !isToSearch(file)),
            )}
          />
          {isAnswering.value ? (
            <button key="stop" type="button" class="main send" onClick={stopAll}>
              <Icon of={Square} />
              Stop
            </button>
          ) : (
            <button key="send" type="submit" class="main send" disabled={cannot}>
              <Icon of={ArrowUp} />
              Send
            </button>
          )}
        </div>
      </div>
    </form>
  );
}

/** Not on a touch screen, where it would open the keyboard. */
function useFocusAtStart(conversation: string): void {
  // Before the first frame, so that early keys are not lost.
  useLayoutEffect(() => {
    const isDialogOpen = document.querySelector('dialog[open]') !== null;
    if (!matchMedia('(pointer: coarse)').matches && !isDialogOpen) focusMessage();
  }, [conversation, begins.value]);
}

function takePaste(event: ClipboardEvent, draft: string): void {
  const { files, text } = {
    files: [...(event.clipboardData?.files ?? [])],
    text: event.clipboardData?.getData('text/plain') ?? '',
  };
  if (files.length > 0) void attachFiles(draft, files);
  else if (!attachPaste(draft, text)) return;
  event.preventDefault();
}

function AttachButton({ draft }: { draft: string }) {
  return (
    <label class="button quiet icon-button attach" title="Attach text, code, PDF files or images">
      <Icon of={Paperclip} />
      <span class="unseen">Attach files</span>
      <input
        type="file"
        multiple
        class="unseen"
        onChange={({ currentTarget }) => {
          void attachFiles(draft, [...(currentTarget.files ?? [])]);
          // Lets the same file be chosen again.
          currentTarget.value = '';
        }}
      />
    </label>
  );
}

function Blind() {
  const { lanes } = current.value;
  const [sighted] = chatModels.value.filter((model) => model.capabilities?.includes('vision'));
  const use = (id: string) => changeCurrent((now) => withModel(now, 0, id));
  return (
    <div class="failure" role="status">
      <p>{sightFault(lanes.map(({ model }) => modelNamed(model)))}</p>
      {sighted === undefined || lanes.length > 1 ? null : (
        <div class="actions">
          <button type="button" class="small" onClick={() => use(sighted.id)}>
            Ask {sighted.id}
          </button>
        </div>
      )}
    </div>
  );
}

function lastSaid(): string {
  const path = pathTo(current.value, current.value.lanes[0]?.leaf ?? null);
  return path.findLast(({ role }) => role === 'user')?.text ?? '';
}

const canNarrow = (file: WaitingFile): boolean => !isToSearch(file) && file.text.length >= LEAST_CHARS;

function WindowGauge({ draft, canNarrow: canBeLess }: { draft: string; canNarrow: boolean }) {
  const gauge = useGauge(current.value, draft);
  if (gauge === null || (gauge.used === 0 && draft === '')) return <span class="gauge" />;
  const { used, window, isEstimate } = gauge;
  const words = `${isEstimate ? 'about ' : ''}${count(used)} of ${count(window)} tokens`;
  const isOver = used > window;
  const remedy = canBeLess ? '. Press "Only what matches" above' : '';
  return (
    <span
      class={isOver ? 'gauge over' : 'gauge'}
      title="How much of the context window is used, with this message"
    >
      <meter
        min={0}
        low={0.75 * window}
        high={0.95 * window}
        optimum={0}
        max={window}
        value={Math.min(used, window)}
        aria-label="Context window"
      />
      <span>{isOver ? `${words}: too long${remedy}` : words}</span>
    </span>
  );
}
