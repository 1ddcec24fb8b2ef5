/** A whole terminal that is drawn again and again in place, and left as it was found. */

interface Sheet {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

/** The other screen, without a cursor; and back. */
const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const ERASE_REST_OF_LINE = '\u001b[K';
const ERASE_BELOW = '\u001b[J';

export class WholeScreen {
  readonly #out: Sheet;

  constructor(out: Sheet) {
    this.#out = out;
  }

  /** Terminals of no width exist: a pipe that calls itself one. */
  get width(): number {
    return this.#out.columns || 80;
  }

  enter(): void {
    this.#out.write(ENTER);
  }

  leave(): void {
    this.#out.write(LEAVE);
  }

  /** In one write, so that nobody sees half of it; lines that do not fit are left out. */
  draw(lines: readonly string[]): void {
    const shown = lines.slice(0, this.#out.rows || 24).map((line) => `${line}${ERASE_REST_OF_LINE}`);
    this.#out.write(`${HOME}${shown.join('\r\n')}${ERASE_BELOW}`);
  }
}
