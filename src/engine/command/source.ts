/** A model that a command of the user's serves, as the scheduler sees it. */
import type { ModelTarget } from '../ports.ts';
import type { Dialect, UpstreamModel } from '../upstream/ports.ts';
import { remoteCapabilities, contextWindow } from '../upstream/remote-target.ts';

export const COMMAND_ENGINE = 'command';

export interface CommandSource {
  readonly name: string;
  /** The program and its words, in which `{port}` and `{model}` stand for what is filled in. */
  readonly command: readonly string[];
  /** For `{model}`. */
  readonly modelWord: string | null;
  readonly cwd: string | null;
  /** Added to the few harmless variables that every command gets. */
  readonly env: Readonly<Record<string, string>>;
  readonly dialect: Dialect;
  /** Base path of its routes, such as `/v1`. */
  readonly basePath: string;
  /** Null: the first model that it lists. */
  readonly model: UpstreamModel | null;
  /** Of the machine's memory; 0: none is planned. */
  readonly memoryBytes: number;
  /** Milliseconds from its start until it answers. */
  readonly startMs: number;
  readonly maxCalls: number;
}

export interface CommandTarget extends ModelTarget {
  readonly engine: typeof COMMAND_ENGINE;
  readonly source: CommandSource;
}

export function commandTarget(
  modelId: string,
  source: CommandSource & { readonly model: UpstreamModel },
): CommandTarget {
  const { model, dialect } = source;
  const window = contextWindow(model);
  return {
    modelId,
    kind: model.kind,
    engine: COMMAND_ENGINE,
    place: source.name,
    capabilities: remoteCapabilities(dialect, model),
    trainedCtx: window,
    defaultCtx: window,
    revision: JSON.stringify(source),
    source,
  };
}

export function fillIn(
  { command, modelWord }: Pick<CommandSource, 'command' | 'modelWord'>,
  port: number,
): string[] {
  // By a function and in one pass, so that inserted values are never expanded again.
  return command.map((word) =>
    word.replaceAll(/\{port\}|\{model\}/g, (mark) =>
      mark === '{port}' ? String(port) : (modelWord ?? mark),
    ),
  );
}
