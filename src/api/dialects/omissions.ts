/**
 * What a client's history holds and the model does not read: media in results of tools, and items that a provider's own tools
 * left behind. They stay in the history, so that refusing them would end the conversation. Each is noted by its path.
 */
export class Omissions {
  readonly #paths: string[] = [];

  get paths(): readonly string[] {
    return this.#paths;
  }

  /** It is left out. */
  leave(path: string, type: unknown): void {
    this.#paths.push(`${path}.${String(type)}`);
  }

  /** The words that stand in its place. */
  stand(path: string, type: unknown): string {
    this.leave(path, type);
    const kind = KINDS.find((each) => String(type).includes(each)) ?? 'part';
    return kind === 'image' ? IMAGE_NOTE : `[${kind} not shown: this model does not read it]`;
  }
}

const IMAGE_NOTE = '[image not shown: this model reads text]';
const KINDS = ['image', 'audio', 'file', 'document'] as const;
