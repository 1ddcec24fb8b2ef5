/**
 * ui owns the page: one document, whose views follow the part of the address after the #. It does not know how the
 * service works, and keeps nothing outside this browser.
 */
import { render } from 'preact';
import { App } from './app/app.tsx';
import { applyTheme } from './app/theme.ts';
import { restore } from './chat/talk/conversations.ts';
import { refreshAll } from './service/known.ts';
import { refreshRecording } from './service/recording.ts';

applyTheme();
const place = document.querySelector('#page');
if (place !== null) {
  place.replaceChildren();
  render(<App />, place);
}
void refreshAll();
void refreshRecording();
void restore();
