/** hearth top: what the engine does, live in a terminal; once and plain elsewhere. */
import type { Command } from 'commander';
import type { Config } from '../../../config/config.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import type { EngineState } from '../../../wire/operation/engine-state.ts';
import { routes } from '../../../wire/routes.ts';
import { baseUrl, callServer, expectOk } from '../../api.ts';
import type { CliContext } from '../../context.ts';
import { followEngine } from '../../top/follow.ts';
import { WholeScreen } from '../../top/screen.ts';
import { engineView } from '../../top/view.ts';

/** Wide enough for every line that goes into a pipe. */
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
  // The screen is taken when there is something to show: a server that does not answer is told in a plain line.
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

/** Keys arrive one by one and unseen until the returned function gives the terminal back. */
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
