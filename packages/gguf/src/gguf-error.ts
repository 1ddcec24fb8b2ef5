/** Why a file may not be given to llama.cpp, as the end of the sentence "it is not usable: …". */
export class GgufError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'GgufError';
  }
}
