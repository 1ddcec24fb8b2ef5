import type { ModelTarget } from '../ports.ts';
import type { Dialect, UpstreamModel } from '../upstream/ports.ts';
import { remoteCapabilities, contextWindow } from '../upstream/remote-target.ts';

export const COMMAND_ENGINE = 'command';

export interface CommandSource {
  readonly name: string;
  readonly command: readonly string[];
  readonly modelWord: string | null;
  readonly cwd: string | null;
  readonly env: Readonly<Record<string, string>>;
  readonly dialect: Dialect;
  readonly basePath: string;
  readonly model: UpstreamModel | null;
  /** Planned host memory; 0: unplanned. */
  readonly memoryBytes: number;
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
  // One pass with a function, so that inserted values are never expanded again.
  return command.map((word) =>
    word.replaceAll(/\{port\}|\{model\}/g, (mark) =>
      mark === '{port}' ? String(port) : (modelWord ?? mark),
    ),
  );
}
