/**
 * Filters keyboard input before the line editor: a paste becomes one piece, and while an answer runs nothing is
 * echoed and Ctrl-C is detected. Text typed meanwhile reaches the editor afterwards.
 */
import { Readable } from 'node:stream';

/** Marks of a bracketed paste, which a terminal sends after PASTE_ON. */
const PASTE_BEGIN = '\u001b[200~';
const PASTE_END = '\u001b[201~';
export const PASTE_ON = '\u001b[?2004h';
export const PASTE_OFF = '\u001b[?2004l';

const INTERRUPT = '\u0003';
/** Characters. A longer pasted line becomes a named paste, because it would slow the editor down. */
const MOST_INLINE = 500;

export interface Keyboard extends NodeJS.ReadableStream {
  setRawMode?(isRaw: boolean): unknown;
}

export class InputGate extends Readable {
  readonly #keyboard: Keyboard;
  readonly #onInterrupt: () => void;
  readonly #pastes = new Map<string, string>();
  readonly #decoder = new TextDecoder();
  #isHeld = false;
  #held = '';
  #hasEnded = false;
  #paste: string | null = null;
  /** End of the last piece that may begin a mark. */
  #tail = '';

  constructor(keyboard: Keyboard, onInterrupt: () => void) {
    super();
    this.#keyboard = keyboard;
    this.#onInterrupt = onInterrupt;
    keyboard.on('data', (part: Buffer | string) =>
      this.#take(typeof part === 'string' ? part : this.#decoder.decode(part, { stream: true })),
    );
    keyboard.on('end', () => {
      this.#hasEnded = true;
      if (!this.#isHeld) this.push(null);
    });
  }

  override _read(): void {
    this.#keyboard.resume();
  }

  /** The line editor switches the terminal itself. */
  setRawMode(isRaw: boolean): this {
    this.#keyboard.setRawMode?.(isRaw);
    return this;
  }

  hold(): void {
    this.#isHeld = true;
    this.#keyboard.resume();
  }

  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    const typed = this.#held;
    this.#held = '';
    if (typed !== '') this.push(typed);
    if (this.#hasEnded) this.push(null);
  }

  expand(line: string): { readonly text: string; readonly hasPaste: boolean } {
    let text = line;
    for (const [name, pasted] of this.#pastes) text = text.replaceAll(name, () => pasted);
    return { text, hasPaste: text !== line };
  }

  #take(part: string): void {
    let rest = this.#tail + part;
    this.#tail = '';
    while (rest !== '') {
      const mark = this.#paste === null ? PASTE_BEGIN : PASTE_END;
      const at = rest.indexOf(mark);
      const piece = at === -1 ? rest.slice(0, rest.length - partialMark(rest, mark)) : rest.slice(0, at);
      if (this.#paste === null) this.#typed(piece);
      else this.#paste += piece;
      if (at === -1) {
        this.#tail = rest.slice(piece.length);
        return;
      }
      if (this.#paste === null) this.#paste = '';
      else this.#endPaste(this.#paste);
      rest = rest.slice(at + mark.length);
    }
  }

  #typed(keys: string): void {
    if (keys === '') return;
    if (!this.#isHeld) return void this.push(keys);
    const at = keys.lastIndexOf(INTERRUPT);
    if (at === -1) {
      this.#held += keys;
      return;
    }
    this.#held = keys.slice(at + 1);
    this.#onInterrupt();
  }

  #endPaste(pasted: string): void {
    this.#paste = null;
    const text = clean(pasted);
    if (text === '') return;
    const shown = /[\n\t]/.test(text) || text.length > MOST_INLINE ? this.#named(text) : text;
    if (this.#isHeld) this.#held += shown;
    else this.push(shown);
  }

  #named(text: string): string {
    const lines = text.split('\n').length;
    const name = `[pasted ${this.#pastes.size + 1}: ${lines} ${lines === 1 ? 'line' : 'lines'}]`;
    this.#pastes.set(name, text);
    return name;
  }
}

/** Terminals send line ends as returns; other control characters in a paste are keys that nobody pressed. */
function clean(pasted: string): string {
  return (
    pasted
      .replaceAll(/\r\n?/g, '\n')
      // oxlint-disable-next-line no-control-regex -- control characters are exactly what is removed here
      .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')
      .replace(/\n+$/, '')
  );
}

/** Characters at the end that may begin the mark; a single Escape is a key of its own. */
function partialMark(text: string, mark: string): number {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length -= 1)
    if (text.endsWith(mark.slice(0, length))) return text === '\u001b' ? 0 : length;
  return 0;
}
