import type { Command } from 'commander';
import type { Config } from '../../../config/config.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import { type EngineState, ENGINE_EVENTS } from '../../../wire/operation/engine-state.ts';
import { routes } from '../../../wire/routes.ts';
import { baseUrl, callServer, expectOk, openStream } from '../../api.ts';
import { type CliContext, CliFailure } from '../../context.ts';
import { engineView } from '../../top-view.ts';
import { setTimeout as pause } from 'node:timers/promises';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { mergePatched } from '../../../lib/base/merge-patch.ts';
import { REQUEST_HEADERS } from '../../../wire/headers.ts';

/** Wide enough for every line in a pipe. */
const PIPE_WIDTH = 1_000;
const LEAVING_KEYS = new Set(['q', 'Q', '\u0003', '\u0004']);

export function registerTop(program: Command, context: CliContext): void {
  program
    .command('top')
    .description('watch the engine: models, slots, speed, queue, memory (q quits)')
    .option('--json', 'the state of this moment as one JSON document')
    .action(async (flags: { json?: boolean }) => {
      const config = context.config();
      if (flags.json !== true && process.stdin.isTTY && process.stdout.isTTY) return watch(config);
      const state = expectOk(await callServer(config, 'GET', routes.engine.path)) as EngineState;
      if (flags.json === true) return context.printJson(state);
      const view = { url: baseUrl(config), nowMs: systemClock.unixMs(), width: PIPE_WIDTH };
      context.print(engineView(state, view).join('\n'));
    });
}

async function watch(config: Config): Promise<void> {
  const leaving = new AbortController();
  const states = followEngine(config, leaving.signal);
  // Takes the screen only once there is something to show: an unreachable server is reported in a plain line.
  const first = await states.next();
  const screen = new WholeScreen(process.stdout);
  let state: EngineState | null = first.value ?? null;
  let isAway = false;
  const draw = (): void => {
    if (state === null) return;
    const view = { url: baseUrl(config), nowMs: systemClock.unixMs(), width: screen.width };
    const lines = engineView(state, view);
    screen.draw(isAway ? ['The server does not answer; looking for it …', ...lines.slice(1)] : lines);
  };
  const restore = takeTerminal(screen, { draw, leave: () => leaving.abort() });
  try {
    draw();
    for await (const next of states) {
      isAway = next === null;
      state = next ?? state;
      draw();
    }
  } finally {
    restore();
  }
}

/** Reads keys without echo until the returned function restores the terminal. */
function takeTerminal(
  screen: WholeScreen,
  { draw, leave }: { readonly draw: () => void; readonly leave: () => void },
): () => void {
  const onKeys = (keys: Buffer): void => {
    if ([...keys.toString('utf8')].some((key) => LEAVING_KEYS.has(key))) leave();
  };
  process.stdin.setRawMode(true).on('data', onKeys);
  process.stdout.on('resize', draw);
  for (const name of ['SIGTERM', 'SIGHUP'] as const) process.once(name, leave);
  screen.enter();
  return () => {
    screen.leave();
    process.stdout.off('resize', draw);
    process.stdin.off('data', onKeys).setRawMode(false).pause();
  };
}

interface Sheet {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

/** The alternate screen without a cursor, and back. */
const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const ERASE_REST_OF_LINE = '\u001b[K';
const ERASE_BELOW = '\u001b[J';

class WholeScreen {
  readonly #out: Sheet;

  constructor(out: Sheet) {
    this.#out = out;
  }

  /** Some terminals report no width, such as a pipe that poses as one. */
  get width(): number {
    return this.#out.columns || 80;
  }

  enter(): void {
    this.#out.write(ENTER);
  }

  leave(): void {
    this.#out.write(LEAVE);
  }

  /** One write, so that no partial screen shows; drops lines that do not fit. */
  draw(lines: readonly string[]): void {
    const shown = lines.slice(0, this.#out.rows || 24).map((line) => `${line}${ERASE_REST_OF_LINE}`);
    this.#out.write(`${HOME}${shown.join('\r\n')}${ERASE_BELOW}`);
  }
}

const RETRY_MS = 1_000;

/** Yields null while the server is unreachable. The first connection has to succeed. */
async function* followEngine(config: Config, signal: AbortSignal): AsyncGenerator<EngineState | null> {
  let state: EngineState | null = null;
  let lastEventId = '';
  let wasReached = false;
  while (!signal.aborted) {
    try {
      for await (const event of readEvents(config, lastEventId, signal)) {
        wasReached = true;
        lastEventId = event.id ?? '';
        const data: unknown = JSON.parse(event.data);
        state = (event.event === ENGINE_EVENTS.update ? mergePatched(state, data) : data) as EngineState;
        yield state;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!wasReached || !(error instanceof CliFailure)) throw error;
    }
    if (signal.aborted) return;
    yield null;
    await pause(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function* readEvents(
  config: Config,
  lastEventId: string,
  signal: AbortSignal,
): AsyncGenerator<EventSourceMessage> {
  const headers = lastEventId === '' ? {} : { [REQUEST_HEADERS.lastEventId]: lastEventId };
  const events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => void events.push(event) });
  const decoder = new TextDecoder();
  for await (const bytes of openStream(config, {
    method: 'GET',
    route: routes.events.path,
    headers,
    signal,
  })) {
    parser.feed(decoder.decode(bytes, { stream: true }));
    yield* events.splice(0);
  }
}
