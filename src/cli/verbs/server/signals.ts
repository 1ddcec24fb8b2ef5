/**
 * Signals of a service, handled from its first moment: a signal during the start is kept, because the default action
 * would end the process and reset accepted requests.
 */
import { isatty } from 'node:tty';
import { deferred } from '../../../lib/base/deferred.ts';
import { EXIT_CODES } from '../../context.ts';

export interface ServiceSignals {
  /** The first request to end; the next one ends the process at once. */
  readonly end: Promise<NodeJS.Signals | 'hearth quit'>;
  /** Acts as one signal, or two if `now`. */
  quit(now: boolean): void;
  onReload(reload: () => void): void;
}

export interface SignalSource {
  on(name: NodeJS.Signals, listener: () => void): void;
  isTerminal(fd: number): boolean;
  exit(code: number): void;
}

const STREAMS = [0, 1, 2];

export function listenForSignals(source: SignalSource = ofThisProcess): ServiceSignals {
  const terminals = STREAMS.filter((fd) => source.isTerminal(fd));
  let reload = (): void => {
    isMissed = true;
  };
  let isMissed = false;
  let isEnding = false;
  const end = deferred<NodeJS.Signals | 'hearth quit'>();
  const ask = (name: NodeJS.Signals | 'hearth quit'): void => {
    if (isEnding) source.exit(EXIT_CODES.interrupted);
    isEnding = true;
    end.resolve(name);
  };
  // The listeners stay: libraries that clean up on exit raise the signal again if there is no other listener, which
  // would look like a second one.
  for (const name of ['SIGINT', 'SIGTERM'] as const) source.on(name, () => ask(name));
  source.on('SIGHUP', () => {
    if (isEnding) return;
    // SIGHUP has two meanings: the terminal was closed, or a user wants a reload.
    if (terminals.some((fd) => !source.isTerminal(fd))) ask('SIGHUP');
    else reload();
  });
  return {
    end: end.promise,
    quit: (now) => {
      ask('hearth quit');
      if (now) ask('hearth quit');
    },
    onReload: (wanted) => {
      reload = wanted;
      if (isMissed) reload();
    },
  };
}

/** Ends this process with the signal, because Node aborts if it exits normally after its terminal is gone. */
export function endByHangUp(): void {
  process.removeAllListeners('SIGHUP');
  process.kill(process.pid, 'SIGHUP');
}

const ofThisProcess: SignalSource = {
  on: (name, listener) => void process.on(name, listener),
  isTerminal: isatty,
  exit: (code) => process.exit(code),
};
