/** A text that knows which of its characters came from a client; every operation preserves this. */

/** Ascending UTF-16 positions of client characters: [start, end, start, end, …]. */
type Runs = readonly number[];

const NO_RUNS: Runs = [];
const SURROGATE = /[\ud800-\udfff]/;

export class Text {
  readonly string: string;
  readonly clientRuns: Runs;
  /** True after `safe` or `escape`: `+` then escapes the other operand as HTML, as in Jinja. */
  readonly isMarkup: boolean;

  private constructor(string: string, clientRuns: Runs, isMarkup = false) {
    this.string = string;
    this.clientRuns = clientRuns;
    this.isMarkup = isMarkup;
  }

  /** Text of the template, the model file or this program. */
  static own(string: string): Text {
    return string === '' ? EMPTY : new Text(string, NO_RUNS);
  }

  static client(string: string): Text {
    return string === '' ? EMPTY : new Text(string, [0, string.length]);
  }

  static concat(parts: readonly Text[]): Text {
    const [only] = parts;
    if (only !== undefined && parts.length === 1) return only;
    const runs: number[] = [];
    let length = 0;
    for (const { string, clientRuns } of parts) {
      for (let i = 0; i < clientRuns.length; i += 2)
        addRun(runs, length + (clientRuns[i] ?? 0), length + (clientRuns[i + 1] ?? 0));
      length += string.length;
    }
    return new Text(parts.map(({ string }) => string).join(''), runs);
  }

  get asPlain(): Text {
    return this.isMarkup ? new Text(this.string, this.clientRuns) : this;
  }

  get asMarkup(): Text {
    return new Text(this.string, this.clientRuns, true);
  }

  get isOwn(): boolean {
    return this.clientRuns.length === 0;
  }

  /** UTF-16 positions. */
  slice(start: number, end = this.string.length): Text {
    if (start <= 0 && end >= this.string.length) return this;
    const string = this.string.slice(start, end);
    const runs: number[] = [];
    for (let i = this.#firstRunBeyond(start); i < this.clientRuns.length; i += 2) {
      const from = Math.max(this.clientRuns[i] ?? 0, start);
      const to = Math.min(this.clientRuns[i + 1] ?? 0, end);
      if (from >= end) break;
      if (from < to) runs.push(from - start, to - start);
    }
    return new Text(string, runs, this.isMarkup);
  }

  #firstRunBeyond(position: number): number {
    let [low, high] = [0, this.clientRuns.length / 2];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((this.clientRuns[2 * middle + 1] ?? 0) > position) high = middle;
      else low = middle + 1;
    }
    return 2 * low;
  }

  /** Inserts the same client text at these ascending positions. */
  insert(places: readonly number[], words: string): Text {
    if (places.length === 0) return this;
    const inserted = Text.client(words);
    const parts = [0, ...places].map((start, i) => this.slice(start, places[i]));
    return Text.concat(parts.flatMap((part, i) => (i === 0 ? [part] : [inserted, part])));
  }

  map(rewrite: (part: string) => string): Text {
    const text = this.#rewritten(rewrite);
    return this.isMarkup ? text.asMarkup : text;
  }

  #rewritten(rewrite: (part: string) => string): Text {
    if (this.isOwn) return Text.own(rewrite(this.string));
    return Text.concat(
      this.runs().map(({ string, isClient }) =>
        isClient ? Text.client(rewrite(string)) : Text.own(rewrite(string)),
      ),
    );
  }

  /** Parts that alternate between the two origins. */
  runs(): { readonly string: string; readonly isClient: boolean }[] {
    const parts: { string: string; isClient: boolean }[] = [];
    let at = 0;
    const add = (end: number, isClient: boolean): void => {
      if (end > at) parts.push({ string: this.string.slice(at, end), isClient });
      at = end;
    };
    for (let i = 0; i < this.clientRuns.length; i += 2) {
      add(this.clientRuns[i] ?? 0, false);
      add(this.clientRuns[i + 1] ?? 0, true);
    }
    add(this.string.length, false);
    return parts;
  }

  /** Code points, as in Python. */
  get length(): number {
    if (!SURROGATE.test(this.string)) return this.string.length;
    let count = 0;
    for (const _ of this.string) count += 1;
    return count;
  }

  characters(): Text[] {
    const all: Text[] = [];
    let at = 0;
    for (const character of this.string) {
      all.push(this.slice(at, at + character.length));
      at += character.length;
    }
    return all;
  }

  /** Slice by code points; both positions must lie inside the text. */
  sliceCharacters(start: number, end: number): Text {
    if (!SURROGATE.test(this.string)) return this.slice(start, end);
    return Text.concat(this.characters().slice(start, end));
  }
}

const EMPTY: Text = Reflect.construct(Text, ['', NO_RUNS]) as Text;

function addRun(runs: number[], start: number, end: number): void {
  if (runs.at(-1) === start) runs[runs.length - 1] = end;
  else runs.push(start, end);
}
