import { describe, expect, it } from 'vitest';
import { listenForSignals } from './signals.ts';

function listening(terminals: readonly number[] = []) {
  const open = new Set(terminals);
  const listeners = new Map<string, () => void>();
  const exits: number[] = [];
  const signals = listenForSignals({
    on: (name, listener) => void listeners.set(name, listener),
    isTerminal: (fd) => open.has(fd),
    exit: (code) => void exits.push(code),
  });
  const ends: string[] = [];
  void signals.end.then((name) => ends.push(name));
  const raise = async (name: string) => {
    listeners.get(name)?.();
    await Promise.resolve();
  };
  return { ...signals, raise, ends, exits, closeTerminal: () => open.clear() };
}

describe('signals of a service', () => {
  it.each(['SIGINT', 'SIGTERM'])('end it once with %s, and at once with a second', async (name) => {
    const { raise, ends, exits } = listening();
    await raise(name);
    expect([ends, exits]).toEqual([[name], []]);
    await raise('SIGINT');
    expect([ends, exits]).toEqual([[name], [130]]);
  });

  it('are not all that ends it: a request may, once with time and then at once', async () => {
    const { quit, raise, ends, exits } = listening();
    quit(false);
    await raise('none');
    expect([ends, exits]).toEqual([['hearth quit'], []]);
    quit(false);
    expect(exits).toEqual([130]);
    const hurried = listening();
    hurried.quit(true);
    expect(hurried.exits).toEqual([130]);
  });

  it('reload it with SIGHUP, as often as it comes; one that came too early counts once', async () => {
    const { raise, onReload, ends } = listening([0, 1, 2]);
    await raise('SIGHUP');
    await raise('SIGHUP');
    let reloads = 0;
    onReload(() => (reloads += 1));
    expect(reloads).toBe(1);
    await raise('SIGHUP');
    expect([reloads, ends]).toEqual([2, []]);
  });

  it('end it with SIGHUP when its terminal is gone, but never hurry the end', async () => {
    const { raise, onReload, closeTerminal, ends, exits } = listening([0, 2]);
    onReload(() => expect.unreachable());
    closeTerminal();
    await raise('SIGHUP');
    await raise('SIGHUP');
    expect([ends, exits]).toEqual([['SIGHUP'], []]);
  });
});
