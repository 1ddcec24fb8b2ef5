/** The reason why llama.cpp must not get a file, as the end of the sentence "it is not usable: …". */
export class GgufError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'GgufError';
  }
}
