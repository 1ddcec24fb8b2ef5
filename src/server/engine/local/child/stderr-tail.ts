export class StderrTail {
  readonly #limitChars: number;
  #text = '';

  constructor(limitChars: number) {
    this.#limitChars = limitChars;
  }

  append(chunk: string): void {
    this.#text = (this.#text + chunk).slice(-this.#limitChars);
  }

  get text(): string {
    return this.#text;
  }
}
