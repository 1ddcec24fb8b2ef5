import { progress as createBar, type ProgressResult } from '@clack/prompts';
import type { BuildEvent, OnBuildEvent } from '../store/libraries/build/progress.ts';
import type { CliContext } from './context.ts';
import { spanText } from './words/relative-time.ts';

export interface BuildProgress {
  readonly onEvent: OnBuildEvent;
  /** Must be called however the build ends, or the bar stays on the terminal. */
  end(): void;
}

type Compiling = Extract<BuildEvent, { readonly status: 'compiling' }>;

const LINE_EVERY = 0.1;

export function showBuild(context: CliContext, json: boolean): BuildProgress {
  if (json) return { onEvent: (event) => context.print(JSON.stringify(event)), end: () => {} };
  const { isTTY, columns } = process.stderr;
  const compiling = isTTY && columns >= 60 ? barProgress() : lineProgress(context);
  return {
    end: () => compiling.end(),
    onEvent: (event) => {
      if (event.status === 'compiling') return compiling.show(event);
      compiling.end();
      context.note(sentence(event));
    },
  };
}

function lineProgress(context: CliContext) {
  let shown = -1;
  return {
    end: () => {},
    show: (event: Compiling) => {
      const done = event.completed / event.total;
      if (done - shown < LINE_EVERY && done < 1) return;
      shown = done;
      context.note(describe(event));
    },
  };
}

function barProgress() {
  let bar: ProgressResult | undefined;
  let completed = 0;
  const end = (): void => {
    bar?.stop('Compiled');
    bar = undefined;
    completed = 0;
  };
  return {
    end,
    show: (event: Compiling) => {
      if (bar === undefined) {
        bar = createBar({ max: event.total, output: process.stderr });
        bar.start('Compiling');
      }
      bar.advance(event.completed - completed, describe(event));
      completed = event.completed;
    },
  };
}

function describe({ completed, total, secondsLeft }: Compiling): string {
  const left = secondsLeft === null || completed === total ? '' : `, ${spanText(1000 * secondsLeft)} left`;
  return `Compiling, step ${completed} of ${total}${left}`;
}

function sentence(event: Exclude<BuildEvent, Compiling>): string {
  switch (event.status) {
    case 'looking':
      return `Building with ${event.compiler}, ${event.cmake} and ${event.generator}`;
    case 'checking headers':
      return 'Comparing the headers with what Hearth calls';
    case 'configuring':
      return 'Configuring';
    case 'trying':
      return 'Trying the libraries on hearth-mini in a separate process';
    case 'measuring':
      return 'Measuring them against the library in use';
  }
}
