/** Reason why a file is not safe for llama.cpp, as the end of the sentence "it is not usable: …". */
export class GgufError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'GgufError';
  }
}
