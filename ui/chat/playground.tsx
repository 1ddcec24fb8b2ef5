/**
 * ui/chat owns how conversations are shown and led. It does not know how a request travels, nor what a service can do.
 */
import { useEffect } from 'preact/hooks';
import { Composer } from './composer.tsx';
import { CodeDialog } from './code-dialog.tsx';
import { History } from './history.tsx';
import { LaneHead, LaneView } from './lane-view.tsx';
import { aside, current, isCodeOpen, stopAll } from './talk/playground-state.ts';
import { SettingsPanel } from './settings-panel.tsx';

export function Playground() {
  const { lanes } = current.value;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !event.defaultPrevented) stopAll();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    <div class={`playground with-${aside.value}`}>
      <h1 class="unseen">Playground</h1>
      {aside.value === 'history' ? <History /> : null}
      <section class="talk" aria-label="Conversation">
        <div class="lanes" style={{ '--lanes': String(lanes.length) }}>
          {lanes.map((lane, at) => (
            <article class="lane" key={at} aria-label={`Answers of ${lane.model}`}>
              <LaneHead lane={lane} at={at} />
              <LaneView lane={lane} at={at} />
            </article>
          ))}
        </div>
        <Composer />
      </section>
      {aside.value === 'settings' ? <SettingsPanel /> : null}
      {isCodeOpen.value ? <CodeDialog /> : null}
    </div>
  );
}
