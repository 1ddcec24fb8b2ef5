/**
 * Styles streamed Markdown for a terminal. It only adds escape sequences, so nothing is lost, and a copy from the
 * terminal is the answer itself.
 */
const STYLES = { heading: '1', bold: '1', italic: '3', code: '36', fence: '2' } as const;
type Style = keyof typeof STYLES;

const ESCAPE = '\u001b[';

export class MarkdownStyler {
  readonly #active = new Set<Style>();
  #run = '';
  #previous = '\n';
  #atStart = true;
  #inBlock = false;
  /** Length of the marks that opened a code span; 0 outside. */
  #span = 0;

  feed(text: string): string {
    let out = '';
    for (const character of text) out += this.#take(character);
    return out;
  }

  end(): string {
    const rest = this.#decide('\n');
    const isStyled = this.#active.size > 0;
    this.#active.clear();
    this.#inBlock = false;
    this.#newLine();
    return isStyled ? `${rest}${ESCAPE}0m` : rest;
  }

  #take(character: string): string {
    if (this.#run !== '' && character === this.#run[0]) {
      this.#run += character;
      return '';
    }
    const decided = this.#decide(character);
    if (this.#isMark(character)) {
      this.#run = character;
      return decided;
    }
    if (character === '\n') return decided + this.#endLine();
    this.#previous = character;
    this.#atStart &&= character === ' ';
    return decided + character;
  }

  #isMark(character: string): boolean {
    if (character === '`') return !this.#inBlock || this.#atStart;
    if (this.#inBlock || this.#span > 0) return false;
    return character === '*' || (character === '#' && this.#atStart);
  }

  #decide(next: string): string {
    const run = this.#run;
    if (run === '') return '';
    this.#run = '';
    const out =
      run[0] === '`' ? this.#ticks(run) : run[0] === '#' ? this.#hashes(run, next) : this.#stars(run, next);
    this.#previous = run;
    this.#atStart = false;
    return out;
  }

  #ticks(run: string): string {
    if (this.#atStart && run.length >= 3) {
      this.#inBlock = !this.#inBlock;
      return this.#change(() => this.#active.clear(), 'fence') + run;
    }
    if (this.#inBlock) return run;
    if (this.#span === 0) {
      this.#span = run.length;
      return this.#change(() => undefined, 'code') + run;
    }
    if (this.#span !== run.length) return run;
    this.#span = 0;
    return run + this.#change(() => this.#active.delete('code'));
  }

  #hashes(run: string, next: string): string {
    return run.length <= 6 && next === ' ' ? this.#change(() => undefined, 'heading') + run : run;
  }

  /** One star is italic, two are bold, three are both; they open before a word and close after one. */
  #stars(run: string, next: string): string {
    if (run.length > 3) return run;
    const styles: Style[] = [
      ...(run.length === 2 ? [] : ['italic' as const]),
      ...(run.length > 1 ? ['bold' as const] : []),
    ];
    const isBehindWord = !/\s/.test(this.#previous);
    if (isBehindWord && styles.every((style) => this.#active.has(style)))
      return run + this.#change(() => styles.map((style) => this.#active.delete(style)));
    const opens = !/\s/.test(next) && !/[\p{L}\p{N}]$/u.test(this.#previous);
    return opens ? this.#change(() => undefined, ...styles) + run : run;
  }

  #endLine(): string {
    const wasStyled = this.#active.size > 0;
    this.#active.clear();
    this.#newLine();
    const code = this.#inBlock ? this.#change(() => undefined, 'code') : '';
    return `${wasStyled ? `${ESCAPE}0m` : ''}\n${code}`;
  }

  #newLine(): void {
    this.#previous = '\n';
    this.#atStart = true;
    this.#span = 0;
  }

  #change(remove: () => unknown, ...added: readonly Style[]): string {
    remove();
    for (const style of added) this.#active.add(style);
    return `${ESCAPE}0${[...this.#active].map((style) => `;${STYLES[style]}`).join('')}m`;
  }
}
