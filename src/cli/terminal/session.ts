/**
 * cli/terminal owns the edges of a conversation: keys, the screen, the service, files. It does not know the meaning
 * of a line or a failure, which cli/conversation decides. This file carries out effects, one event at a time.
 */
import { errorMessage } from '../../lib/errors/svc-error.ts';
import { open } from 'node:fs/promises';
import type { Config } from '../../config/config.ts';
import { CliFailure, EXIT_CODES } from '../context.ts';
import { textOfFile } from '../read-file.ts';
import type { Conversation, Effect, Event, Failure, NewFile } from '../conversation/state.ts';
import { introduction, step } from '../conversation/step.ts';
import { answerEvents, chatModels, findAnswerer } from './answer-source.ts';
import type { Screen } from './screen.ts';

export interface Lines {
  ask(more: boolean): void;
  close(): void;
}

export interface SessionPorts {
  readonly config: Config;
  readonly screen: Screen;
}

export interface Left {
  readonly exitCode: number;
  readonly sentence: string | null;
}

const PRIVATE = 0o600;

export class Session {
  readonly left: Promise<Left>;
  readonly #ports: SessionPorts;
  readonly #leave: (left: Left) => void;
  readonly #events: Event[] = [];
  #state: Conversation;
  #lines: Lines | null = null;
  #isBusy = false;
  #running: AbortController | null = null;

  constructor(state: Conversation, ports: SessionPorts) {
    this.#state = state;
    this.#ports = ports;
    let leave: (left: Left) => void = () => undefined;
    this.left = new Promise((resolve) => {
      leave = resolve;
    });
    this.#leave = leave;
  }

  converse(lines: Lines): void {
    this.#lines = lines;
    const [answers, ...warnings] = introduction(this.#state);
    this.#ports.screen.say(`${answers} /help lists the commands.`);
    for (const warning of warnings) this.#ports.screen.say(warning);
    lines.ask(false);
  }

  dispatch(event: Event): void {
    this.#events.push(event);
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      for (let next = this.#events.shift(); next !== undefined; next = this.#events.shift()) {
        const { state, effects } = step(this.#state, next);
        this.#state = state;
        for (const effect of effects) this.#perform(effect);
      }
    } finally {
      this.#isBusy = false;
    }
  }

  #perform(effect: Effect): void {
    const { screen, config } = this.#ports;
    switch (effect.do) {
      case 'ask':
        return this.#lines?.ask(effect.more);
      case 'send':
        return this.#run((signal) => answerEvents(config, effect, signal), { on: 'answered' });
      case 'stop':
        return this.#running?.abort();
      case 'findModel':
        return this.#run(async function* () {
          yield { on: 'model', model: await findAnswerer(config, effect.name) };
        });
      case 'listModels':
        return this.#run(async function* () {
          yield { on: 'models', ids: await chatModels(config) };
        });
      case 'write':
        return this.#run(async function* () {
          for (const file of effect.files) await writeNew(file, effect.mayReplace);
          yield { on: 'written', files: effect.files.map(({ file }) => file), note: effect.note };
        });
      case 'read':
        return this.#run(async function* () {
          yield { on: 'loaded', file: effect.file, text: await textOfFile(effect.file) };
        });
      case 'showAnswer':
        return screen.answer(effect.text);
      case 'showReasoning':
        return screen.reasoning(effect.text);
      case 'showStatus':
        return screen.status(effect.text);
      case 'closeAnswer':
        return screen.closeAnswer();
      case 'say':
        return screen.say(effect.text);
      case 'leave':
        this.#running?.abort();
        this.#lines?.close();
        this.#leave(effect);
    }
  }

  #run(work: (signal: AbortSignal) => AsyncGenerator<Event>, last?: Event): void {
    const controller = new AbortController();
    this.#running = controller;
    void (async () => {
      try {
        for await (const event of work(controller.signal)) this.dispatch(event);
        if (last !== undefined) this.dispatch(last);
      } catch (error) {
        this.dispatch({ on: 'failed', failure: toFailure(error, controller.signal.aborted) });
      }
    })();
  }
}

function toFailure(error: unknown, wasStopped: boolean): Failure {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return {
    sentence: errorMessage(error),
    code: typeof code === 'string' ? code : null,
    exitCode: error instanceof CliFailure ? error.exitCode : EXIT_CODES.failure,
    wasStopped,
  };
}

async function writeNew({ file, text }: NewFile, mayReplace: boolean): Promise<void> {
  const handle = await open(file, mayReplace ? 'w' : 'wx', PRIVATE).catch((cause: NodeJS.ErrnoException) => {
    const reason =
      cause.code === 'EEXIST' ? 'exists already; choose another name' : `cannot be written (${cause.code})`;
    throw new CliFailure(`${file} ${reason}.`, EXIT_CODES.failure, cause);
  });
  try {
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
}
