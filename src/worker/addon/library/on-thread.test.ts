import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { onThread } from './on-thread.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

type Done = (error: unknown, result: number) => void;

/** A call that keeps nothing of its memory but the address, as native code does. */
function begin(): { readonly memory: WeakRef<Uint8Array>; readonly done: Done[] } {
  const memory = new Uint8Array(1 << 20);
  const done: Done[] = [];
  const keep = (_address: number, settle: Done): void => void done.push(settle);
  void onThread<number>((settle) => keep(memory.byteOffset, settle));
  return { memory: new WeakRef(memory), done };
}

it('holds the memory of a call until it has returned, and no longer', async () => {
  const { memory, done } = begin();
  await turn();
  collectGarbage();
  expect(memory.deref()).toBeDefined();
  done.pop()?.(null, 1);
  await turn();
  collectGarbage();
  expect(memory.deref()).toBeUndefined();
});
