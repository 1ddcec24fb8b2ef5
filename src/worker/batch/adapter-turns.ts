import type { ChatModel } from '../model.ts';
import { type CurrentGroup, nextKey } from './adapter-groups.ts';
import type { Stream } from './stream/stream.ts';

export class AdapterTurns {
  readonly #chat: ChatModel;
  #current: CurrentGroup = { key: '', sinceMs: 0 };
  readonly #waitingSinceMs = new WeakMap<Stream, number>();

  constructor(chat: ChatModel) {
    this.#chat = chat;
  }

  choose(streams: readonly Stream[]): void {
    const nowMs = performance.now();
    const members = streams.map((stream) => {
      const key = stream.adapterKey;
      const sinceMs = this.#waitingSinceMs.get(stream);
      if (sinceMs === undefined || key === this.#current.key) this.#waitingSinceMs.set(stream, nowMs);
      return { key, waitingSinceMs: sinceMs ?? nowMs, adapters: stream.adapters };
    });
    if (members.length === 0) return;
    const key = nextKey(members, this.#current, nowMs);
    if (key === this.#current.key) return;
    this.#apply(members.find((member) => member.key === key)?.adapters ?? []);
    this.#current = { key, sinceMs: nowMs };
  }

  hasTurn(stream: Stream): boolean {
    return stream.adapterKey === this.#current.key;
  }

  #apply(adapters: Stream['adapters']): void {
    const scaled = adapters.map(({ name, scale }) => {
      const adapter = this.#chat.adapters.get(name);
      if (adapter === undefined) throw new Error(`the adapter ${name} was not loaded`);
      return { adapter, scale };
    });
    this.#chat.context.setAdapters(scaled);
  }
}
