import { createInterface, type Interface } from 'node:readline';
import type { Writable } from 'node:stream';
import type { LineHistory } from './line-history.ts';
import { InputGate, type Keyboard, PASTE_OFF, PASTE_ON } from './input-gate.ts';

export interface LineEditorOptions {
  readonly input: Keyboard;
  readonly output: Writable & { readonly isTTY?: boolean };
  readonly history: LineHistory;
  readonly words: readonly string[];
  readonly onLine: (text: string) => void;
  readonly onInterrupt: (lineIsEmpty: boolean) => void;
  readonly onEnd: () => void;
}

const PROMPT = '> ';
const MORE_PROMPT = '... ';

export class LineEditor {
  readonly #options: LineEditorOptions;
  readonly #gate: InputGate;
  readonly #lines: Interface;
  readonly #early: string[] = [];
  readonly #isTerminal: boolean;
  #isAsking = false;
  #isClosed = false;
  #hasEnded = false;

  constructor(options: LineEditorOptions) {
    const { input, output, history, words } = options;
    this.#options = options;
    this.#isTerminal = output.isTTY === true;
    this.#gate = new InputGate(input, () => options.onInterrupt(true));
    this.#lines = createInterface({
      input: this.#gate,
      output,
      terminal: this.#isTerminal,
      history: [...history.recent],
      historySize: Math.max(1, history.size),
      removeHistoryDuplicates: true,
      completer: (line: string) => [
        line.startsWith('/') ? words.filter((word) => word.startsWith(line)) : [],
        line,
      ],
    });
    this.#lines.on('line', (line) => this.#entered(line));
    this.#lines.on('SIGINT', () => this.#interrupted());
    this.#lines.on('close', () => this.#ended());
    if (this.#isTerminal) output.write(PASTE_ON);
  }

  ask(more: boolean): void {
    const early = this.#early.shift();
    if (early !== undefined) return this.#deliver(early);
    if (this.#hasEnded) return this.#options.onEnd();
    this.#isAsking = true;
    this.#lines.setPrompt(more ? MORE_PROMPT : PROMPT);
    this.#lines.prompt();
    this.#gate.release();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#lines.close();
    this.#gate.destroy();
    if (this.#isTerminal) this.#options.output.write(PASTE_OFF);
    this.#options.input.pause();
  }

  #entered(line: string): void {
    if (this.#isAsking) this.#deliver(line);
    else this.#early.push(line);
  }

  #deliver(line: string): void {
    this.#isAsking = false;
    this.#gate.hold();
    const { text, hasPaste } = this.#gate.expand(line);
    // The name of a paste has no meaning in another session.
    if (!hasPaste) this.#options.history.add(line);
    this.#options.onLine(text);
  }

  #interrupted(): void {
    const isEmpty = this.#lines.line === '';
    if (isEmpty) {
      this.#options.output.write('\n');
    } else {
      this.#lines.write(null, { ctrl: true, name: 'e' });
      this.#lines.write(null, { ctrl: true, name: 'u' });
    }
    this.#early.length = 0;
    this.#options.onInterrupt(isEmpty);
  }

  #ended(): void {
    this.#hasEnded = true;
    if (this.#isClosed) return;
    if (this.#isAsking && this.#isTerminal) this.#options.output.write('\n');
    this.#options.onEnd();
  }
}
