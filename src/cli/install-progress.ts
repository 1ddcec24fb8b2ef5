import { basename } from 'node:path';
import { progress as createBar, type ProgressResult } from '@clack/prompts';
import { readable } from '../lib/base/byte-size.ts';
import type { InstallEvent, OnInstallEvent } from '../store/install/install-event.ts';
import { type CliContext, printable } from './context.ts';
import { spanText } from './words/relative-time.ts';

export interface InstallProgress {
  readonly onEvent: OnInstallEvent;
  /** Must be called however the installation ends, or the bar stays on the terminal. */
  end(): void;
}

export function showProgress(context: CliContext, json: boolean): InstallProgress {
  if (json) return { onEvent: (event) => context.print(JSON.stringify(event)), end: () => {} };
  const { isTTY, columns } = process.stderr;
  // A terminal of unknown or tiny width would break the bar into single characters.
  return isTTY && columns >= 60 ? barProgress(context) : lineProgress(context);
}

function lineProgress(context: CliContext): InstallProgress {
  let fetched = '';
  return {
    onEvent: (event) => {
      if (event.status === 'downloading' && event.file !== fetched) {
        fetched = event.file;
        context.note(`${sentence(event)} (${readable(event.total)})`);
      } else if (TOLD.has(event.status)) {
        context.note(sentence(event));
      }
    },
    end: () => {},
  };
}

const TOLD: ReadonlySet<InstallEvent['status']> = new Set([
  'resolved',
  'waiting',
  'retrying',
  'signature',
  'success',
]);

function barProgress(context: CliContext): InstallProgress {
  let bar: ProgressResult | undefined;
  let barKey = '';
  let rate = new TransferRate();
  let completed = 0;
  const end = (): void => {
    bar?.stop(barKey);
    bar = undefined;
  };
  return {
    end,
    onEvent: (event) => {
      if (!isTransfer(event)) {
        end();
        return context.note(sentence(event));
      }
      const title = sentence({ ...event, file: basename(event.file) });
      if (bar === undefined || title !== barKey) {
        end();
        barKey = title;
        rate = new TransferRate();
        completed = 0;
        bar = createBar({ max: Math.max(1, event.total), output: process.stderr });
        bar.start(barKey);
      }
      bar.advance(event.completed - completed, `${barKey} ${rate.describe(event.completed, event.total)}`);
      completed = event.completed;
    },
  };
}

type Transfer = Extract<InstallEvent, { readonly total: number }>;

function isTransfer(event: InstallEvent): event is Transfer {
  return 'total' in event;
}

class TransferRate {
  #atMs = performance.now();
  #bytes: number | undefined;
  #perSecond = 0;

  describe(completed: number, total: number): string {
    const now = performance.now();
    const seconds = (now - this.#atMs) / 1000;
    if (this.#bytes !== undefined && seconds > 0) {
      const current = (completed - this.#bytes) / seconds;
      this.#perSecond = this.#perSecond === 0 ? current : 0.8 * this.#perSecond + 0.2 * current;
    }
    [this.#atMs, this.#bytes] = [now, completed];
    const amount = `${readable(completed)} of ${readable(total)}`;
    if (this.#perSecond <= 0) return amount;
    return `${amount}, ${readable(this.#perSecond)}/s, ${spanText((1000 * (total - completed)) / this.#perSecond)} left`;
  }
}

function sentence(event: InstallEvent): string {
  return printable(describe(event));
}

function describe(event: InstallEvent): string {
  switch (event.status) {
    case 'resolving':
      return `Looking up ${event.ref}`;
    case 'resolved':
      return `Found ${event.files.join(', ')} in ${event.repo} at ${event.commit.slice(0, 12)}`;
    case 'downloading':
      return `Downloading ${event.file}`;
    case 'copying':
      return `Copying ${event.file}`;
    case 'verifying':
      return `Verifying ${event.file}`;
    case 'waiting':
      return `Waiting for ${event.holder}, which fetches the same file`;
    case 'retrying':
      return `${event.reason} Trying again in ${Math.ceil(event.delayMs / 1000)} s (try ${event.attempt})`;
    case 'inspecting':
      return `Inspecting ${event.file}`;
    case 'unpacking':
      return `Unpacking ${event.file}`;
    case 'probing':
      return `Trying ${event.file} in a separate process`;
    case 'left out':
      return `Installing the model without ${event.file}, which lets it read images: ${event.reason}`;
    case 'signature':
      return event.says;
    case 'writing manifest':
      return `Registering ${event.id}`;
    case 'success':
      return `${event.id} is installed.`;
  }
}
