/** The scripted upstream in the process of a test: program.mjs says what each name of a model makes it do. */
import type { IncomingHttpHeaders } from 'node:http';
import { fileURLToPath } from 'node:url';

export const FAULTS = ['reset', 'rubbish', 'ends', 'error', 'stall'] as const;

export interface Fault {
  readonly after: number;
  /** `refused` only before the first word. */
  readonly kind: (typeof FAULTS)[number] | 'refused';
  /** It fails once this has resolved; absent: at once. */
  readonly once?: Promise<void>;
}

/** What the model `tale` tells. */
export const TALE = Array.from({ length: 200 }, (_, index) => `word${index}`).join(' ');

export interface ScriptedUpstream {
  readonly url: string;
  readonly port: number;
  /** What it lists: names, or whole entries. */
  models: (string | Readonly<Record<string, unknown>>)[];
  owner: string;
  /** Its `Server` header. */
  serverName?: string;
  /** The status of /health. */
  health: number;
  /** Answers of further routes, by path. */
  pages: Record<string, unknown>;
  /** The body of the next answer of `script`. */
  script: string;
  /** How the next request for `tale` fails: after so many words, in this way; null: not at all. */
  faultOf: (body: { readonly messages: readonly unknown[] }) => Fault | null;
  /** Chats that are open there. */
  readonly running: number;
  readonly sent: number;
  readonly requests: {
    readonly path: string;
    readonly headers: IncomingHttpHeaders;
    // oxlint-disable-next-line typescript/no-explicit-any -- tests look into what they caused
    readonly body: any;
    /** The body as it was written. */
    readonly text: string;
  }[];
  close(): Promise<void>;
}

const UPSTREAM_PROGRAM = fileURLToPath(new URL('program.mjs', import.meta.url));

export async function startUpstream(port = 0): Promise<ScriptedUpstream> {
  const { ScriptedUpstream: Program } = (await import(UPSTREAM_PROGRAM)) as {
    ScriptedUpstream: new () => ScriptedUpstream & { listen(port: number): Promise<ScriptedUpstream> };
  };
  return new Program().listen(port);
}
