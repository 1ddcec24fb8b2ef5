/**
 * config owns every setting, each written once: its environment name, meaning, default, and how its text is read.
 * Flags, the environment and the config file all use `read`, so each wrong value has one message. It knows nothing of
 * what a setting does.
 */
import {
  DEFAULT_KEEP_ALIVE_MS,
  DEFAULT_MAX_QUEUE,
  LEAST_CTX,
  MOST_DRAFT_TOKENS,
  MOST_SEQUENCES,
  MOST_THREADS,
} from '../contract/limits.ts';
import { parseBytes, readable } from '../lib/base/byte-size.ts';
import { formatDuration, parseDuration } from '../lib/base/duration.ts';
import { VOLATILE_TREATMENTS, type VolatileTreatment } from '../lib/prompt-cache/volatile-lines.ts';

export interface Setting<T> {
  readonly env: string;
  readonly description: string;
  readonly fallback: T;
  /** For the documentation: the effect of an unset setting without a fallback. */
  readonly unset?: string;
  readonly read: (text: string) => T | undefined;
  readonly expects: string;
  /** Formats a value for people, if its own text is unclear. */
  show?(value: T): string | null;
  /** `hearth config` shows only whether it is set. */
  readonly secret?: boolean;
  /** A running service applies a change of config.toml on SIGHUP; other settings need a restart. */
  readonly live?: boolean;
}

const text = (value: string): string | undefined => (value.trim() === '' ? undefined : value.trim());
const whole =
  (minimum: number, maximum = Number.MAX_SAFE_INTEGER) =>
  (value: string): number | undefined => {
    const number = /^\d+$/.test(value.trim()) ? Number(value) : Number.NaN;
    return number >= minimum && number <= maximum ? number : undefined;
  };
const flag = (value: string): boolean | undefined =>
  ({
    '1': true,
    true: true,
    yes: true,
    on: true,
    '0': false,
    false: false,
    no: false,
    off: false,
    '': false,
  })[value.trim().toLowerCase()];
/** Without a path: an origin with one would not fit into a policy. */
const LOOPBACK_ORIGIN = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i;
const list = (value: string): readonly string[] =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

function setting<T>(definition: Setting<T>): Setting<T> {
  return definition;
}

const duration = (
  definition: Pick<Setting<number>, 'env' | 'description' | 'fallback' | 'live'>,
): Setting<number> => ({
  ...definition,
  read: parseDuration,
  show: formatDuration,
  expects: 'a duration such as 30s, 10m or 1h30m; a bare number is seconds, and -1 means no limit',
});

const COUNT = 'a whole number';
const ERROR_SHAPES = ['auto', 'string', 'object'] as const;

const bytes = (definition: {
  readonly env: string;
  readonly description: string;
  readonly unset: string;
}): Setting<number | null> => ({
  ...definition,
  fallback: null,
  read: parseBytes,
  show: (value) => (value === null ? null : readable(value)),
  expects: 'an amount such as 512MiB, 4GiB or 10GB; 0 for none',
});

export const settings = {
  host: setting({
    env: 'SVC_HOST',
    description: 'Address to bind: host, :port, host:port or a URL.',
    fallback: '127.0.0.1',
    read: text,
    expects: 'a host name or address',
  }),
  port: setting<number | null>({
    env: 'SVC_PORT',
    description: 'Port to listen on; 0 picks a free one and prints it.',
    fallback: null,
    unset: '8740, or 8741 with --dev',
    read: whole(0, 65_535),
    expects: 'a port from 0 to 65535',
  }),
  socket: setting<string | null>({
    env: 'SVC_SOCKET',
    description:
      'Also listens on this Unix socket, which only your user can open, or on a named pipe of Windows; the verbs of hearth then use it.',
    fallback: null,
    unset: 'none',
    read: text,
    expects: 'a path',
  }),
  tlsCert: setting<string | null>({
    env: 'SVC_TLS_CERT',
    description:
      'File with the TLS certificate in PEM, followed by its intermediate certificates; with SVC_TLS_KEY the service speaks https. SIGHUP reads both files again.',
    fallback: null,
    unset: 'plain http',
    read: text,
    expects: 'a file',
  }),
  tlsKey: setting<string | null>({
    env: 'SVC_TLS_KEY',
    description: 'File with the private key of SVC_TLS_CERT in PEM; other users must not be able to read it.',
    fallback: null,
    unset: 'plain http',
    read: text,
    expects: 'a file',
  }),
  home: setting<string | null>({
    env: 'SVC_HOME',
    description: 'The folder below which the service writes everything.',
    fallback: null,
    unset:
      'a folder of the platform: ~/.local/share/hearth on Linux, ~/Library/Application Support/hearth on macOS, %LOCALAPPDATA%\\hearth\\Data on Windows; with -dev at the end for --dev',
    read: text,
    expects: 'a folder',
  }),
  apiKey: setting<string | null>({
    env: 'SVC_API_KEY',
    live: true,
    description:
      'If set, every route but /health requires this key. Any address other than loopback needs this or a key of hearth key add.',
    fallback: null,
    unset: 'no key is required',
    read: text,
    expects: 'a key',
    secret: true,
  }),
  defaultModel: setting<string | null>({
    env: 'SVC_DEFAULT_MODEL',
    live: true,
    description: 'The model of the id "default".',
    fallback: null,
    unset: 'the choice of `hearth default`, else the newest installed chat model',
    read: text,
    expects: 'a model id',
  }),
  embeddingModel: setting<string | null>({
    env: 'SVC_EMBEDDING_MODEL',
    live: true,
    description: 'The model of the id "default-embedding".',
    fallback: null,
    unset: 'the same, of the embedding models',
    read: text,
    expects: 'a model id',
  }),
  storeResponses: setting({
    env: 'SVC_STORE_RESPONSES',
    description:
      'Keeps responses of /v1/responses that do not say store=false, prompts included, for 30 days below the home folder.',
    fallback: true,
    read: flag,
    expects: '1 or 0',
  }),
  sealed: setting({
    env: 'SVC_SEALED',
    description:
      'The service and its workers open no connection, workers read no file but installed models, and nothing is fetched.',
    fallback: false,
    read: flag,
    expects: '1 or 0',
  }),
  unknownModelIsDefault: setting({
    env: 'SVC_UNKNOWN_MODEL_IS_DEFAULT',
    description:
      'Answers chats that ask for a model that is not installed with the default model, and names it in a header.',
    fallback: false,
    read: flag,
    expects: '1 or 0',
  }),
  volatileLines: setting<VolatileTreatment>({
    env: 'SVC_VOLATILE_LINES',
    description:
      'How to treat lines of system prompts that carry request metadata and would defeat the prompt cache: drop removes them, move puts them last, keep leaves them.',
    fallback: 'drop',
    read: (value) => VOLATILE_TREATMENTS.find((treatment) => treatment === value.trim()),
    expects: 'drop, move or keep',
  }),
  errorShape: setting<(typeof ERROR_SHAPES)[number]>({
    env: 'SVC_ERROR_SHAPE',
    description:
      "The form of error in failures. string: one sentence. object: OpenAI's, with message, type, param and code. auto: object for clients of OpenAI's API, else string.",
    fallback: 'auto',
    read: (value) => ERROR_SHAPES.find((shape) => shape === value.trim()),
    expects: 'auto, string or object',
  }),
  allowHashEmbeddings: setting({
    env: 'SVC_ALLOW_HASH_EMBEDDINGS',
    description: 'Allows /v1/embeddings and /v1/rerank to fall back to feature hashing.',
    fallback: false,
    read: flag,
    expects: '1 or 0',
  }),
  keepAliveMs: duration({
    env: 'SVC_KEEP_ALIVE',
    live: true,
    description: 'How long an idle model stays loaded.',
    fallback: DEFAULT_KEEP_ALIVE_MS,
  }),
  maxLoadedModels: setting<number | null>({
    env: 'SVC_MAX_LOADED_MODELS',
    live: true,
    description: 'Models kept in memory at once.',
    fallback: null,
    unset: 'as many as fit',
    read: whole(1, 64),
    expects: `${COUNT} from 1 to 64`,
  }),
  numParallel: setting<number | null>({
    env: 'SVC_NUM_PARALLEL',
    description: 'Requests that a chat model decodes in parallel.',
    fallback: null,
    unset: 'as many as fit in memory, at least 4',
    read: whole(1, MOST_SEQUENCES),
    expects: `${COUNT} from 1 to ${MOST_SEQUENCES}`,
  }),
  draftTokens: setting({
    env: 'SVC_DRAFT_TOKENS',
    description: 'Most tokens that a stream drafts per step by prompt lookup; 0 disables drafting.',
    fallback: MOST_DRAFT_TOKENS,
    read: whole(0, MOST_DRAFT_TOKENS),
    expects: `${COUNT} from 0 to ${MOST_DRAFT_TOKENS}`,
  }),
  maxQueue: setting({
    env: 'SVC_MAX_QUEUE',
    live: true,
    description: 'Requests that may wait; the next one is answered with 429.',
    fallback: DEFAULT_MAX_QUEUE,
    read: whole(0, 100_000),
    expects: COUNT,
  }),
  numThreads: setting<number | null>({
    env: 'SVC_NUM_THREADS',
    description: 'Threads for inference.',
    fallback: null,
    unset: 'measured per model',
    read: whole(1, MOST_THREADS),
    expects: `${COUNT} from 1 to ${MOST_THREADS}`,
  }),
  numCtx: setting<number | null>({
    env: 'SVC_NUM_CTX',
    description: 'Context window in tokens for requests that do not set num_ctx.',
    fallback: null,
    unset: 'chosen at each load: up to 65536, as far as the model was trained and memory allows',
    read: whole(LEAST_CTX),
    expects: `${COUNT} of at least ${LEAST_CTX}`,
  }),
  gpu: setting({
    env: 'SVC_GPU',
    description: 'Where layers run: auto, off (CPU only), cuda, vulkan or metal.',
    fallback: 'auto',
    read: (value) => (['auto', 'off', 'cuda', 'vulkan', 'metal'].includes(value) ? value : undefined),
    expects: 'auto, off, cuda, vulkan or metal',
  }),
  gpuFetch: setting<'auto' | 'off'>({
    env: 'SVC_GPU_FETCH',
    live: true,
    description:
      'auto: with SVC_GPU=auto and a GPU that needs only its library, fetch the Vulkan library (24 MB), try it, and use it if it is faster. off: fetch nothing.',
    fallback: 'auto',
    read: (value) => (value === 'auto' || value === 'off' ? value : undefined),
    expects: 'auto or off',
  }),
  cacheRam: bytes({
    env: 'SVC_CACHE_RAM',
    description:
      'Host memory in which each loaded chat model keeps the state of prompts that left its slots; 0 keeps none.',
    unset: 'an eighth of the memory that is free at the load, at most 4 GiB',
  }),
  cacheDisk: bytes({
    env: 'SVC_CACHE_DISK',
    description:
      'Disk space below the home folder in which the state of prompts, encrypted, outlives unloads and restarts; 0 keeps none.',
    unset: 'a tenth of the disk space that is free at the start, at most 16 GiB',
  }),
  allowedHosts: setting<readonly string[]>({
    env: 'SVC_ALLOWED_HOSTS',
    live: true,
    description: 'Additional Host names to accept, separated by commas.',
    fallback: [],
    read: (value) => list(value).map((host) => host.toLowerCase()),
    expects: 'names separated by commas',
  }),
  allowedOrigins: setting<readonly string[]>({
    env: 'SVC_ALLOWED_ORIGINS',
    description: 'Web origins allowed to call the service, exact and separated by commas.',
    fallback: [],
    read: (value) =>
      list(value).some((origin) => !/^[a-z][a-z0-9+.-]*:\/\/[^*\s]+$/i.test(origin))
        ? undefined
        : list(value),
    expects: 'origins such as https://chat.example, without wildcards',
  }),
  pageConnect: setting<readonly string[]>({
    env: 'SVC_PAGE_CONNECT',
    description:
      'Addresses of this machine that the page may call besides the service, such as those of MCP servers, separated by commas.',
    fallback: [],
    read: (value) => (list(value).every((origin) => LOOPBACK_ORIGIN.test(origin)) ? list(value) : undefined),
    expects: 'origins such as http://127.0.0.1:3001, on 127.0.0.1, localhost or [::1]',
  }),
  allowLocalPages: setting({
    env: 'SVC_ALLOW_LOCAL_PAGES',
    description:
      'Lets every web page of this machine call: origins on localhost, 127.0.0.1 or [::1] with any port, and those of desktop programs (app://, tauri://, vscode-webview://, vscode-file://).',
    fallback: false,
    read: flag,
    expects: '1 or 0',
  }),
  allowDockerHost: setting({
    env: 'SVC_ALLOW_DOCKER_HOST',
    live: true,
    description:
      'Lets containers call by the names host.docker.internal and host.containers.internal. Docker Desktop reaches the loopback address; on other systems, bind the address of the bridge as well, which needs a key.',
    fallback: false,
    read: flag,
    expects: '1 or 0',
  }),
  fetchImages: setting({
    env: 'SVC_FETCH_IMAGES',
    description:
      'Fetches images that requests name by https addresses. Addresses of private networks are refused, but for SVC_HUB_HOSTS; a sealed service fetches nothing.',
    fallback: false,
    read: flag,
    expects: '1 or 0',
  }),
  hubHosts: setting<readonly string[]>({
    env: 'SVC_HUB_HOSTS',
    description:
      'Private hosts (host or host:port) that a model hub may redirect to and images may come from, separated by commas.',
    fallback: [],
    read: (value) => list(value).map((host) => host.toLowerCase()),
    expects: 'hosts separated by commas',
  }),
  signatures: setting<'off' | 'warn' | 'enforce'>({
    env: 'SVC_SIGNATURES',
    description:
      'What is done about signatures when a model is pulled or imported: enforce installs only what a signer of SVC_SIGNERS signed, warn says once who signed or what is wrong, off looks for none.',
    fallback: 'warn',
    read: (value) => (['off', 'warn', 'enforce'] as const).find((mode) => mode === value.trim()),
    expects: 'off, warn or enforce',
  }),
  signers: setting<readonly string[]>({
    env: 'SVC_SIGNERS',
    description:
      'Signers of models whom you trust, separated by commas: files of public keys or certificates in PEM, and identities of Sigstore with their issuers, such as release@example.com https://accounts.google.com. A star at the end of an identity stands for any rest.',
    fallback: [],
    read: list,
    expects: 'files, and identities with their issuers, separated by commas',
  }),
  sigstoreRoot: setting<string | null>({
    env: 'SVC_SIGSTORE_ROOT',
    description: 'File with the trusted root (JSON) of the Sigstore instance whose certificates count.',
    fallback: null,
    unset: 'the root of the public instance that comes with Hearth',
    read: text,
    expects: 'a file',
  }),
  logLevel: setting({
    env: 'SVC_LOG_LEVEL',
    live: true,
    description: 'How much is logged: debug, info, warn, error or silent.',
    fallback: 'info',
    read: (value) => (['debug', 'info', 'warn', 'error', 'silent'].includes(value) ? value : undefined),
    expects: 'debug, info, warn, error or silent',
  }),
  logFiles: setting({
    env: 'SVC_LOG_FILES',
    description:
      'Writes the log as JSON lines to private files in the folder logs of the home folder as well, five of 10 MiB at most; `hearth logs` reads them.',
    fallback: true,
    read: flag,
    expects: '1 or 0',
  }),
  record: setting<'off' | 'on' | 'text'>({
    env: 'SVC_RECORD',
    description:
      'How much of the last 200 requests is kept in memory: on, figures only; text, also the texts of requests and answers; off, nothing.',
    fallback: 'on',
    read: (value) => (['off', 'on', 'text'] as const).find((mode) => mode === value.trim()),
    expects: 'off, on or text',
  }),
  recordTextForMs: duration({
    env: 'SVC_RECORD_TEXT_FOR',
    description:
      'How long SVC_RECORD=text keeps text, from the start of the service; then all of it is forgotten.',
    fallback: 3_600_000,
  }),
  runHistory: setting({
    env: 'SVC_RUN_HISTORY',
    description:
      'Whether `hearth run` keeps the lines typed in it, in the private file run-history of the home folder.',
    fallback: true,
    read: flag,
    expects: '1 or 0',
  }),
  strictParams: setting({
    env: 'SVC_STRICT_PARAMS',
    description: 'Answers 400 to a request with a field that has no effect.',
    fallback: false,
    read: flag,
    expects: '1 or 0',
  }),
  maxBodyBytes: setting({
    env: 'SVC_MAX_BODY_BYTES',
    description: 'Largest request body in bytes.',
    fallback: 8 * 1024 * 1024,
    read: whole(1024, 64 * 1024 * 1024),
    expects: `${COUNT} from 1024 to 67108864`,
  }),
  streamHeadAfterMs: duration({
    env: 'SVC_STREAM_HEAD_AFTER',
    description:
      'How long a queued stream may stay silent before its headers are sent and queue progress is reported as SSE comments.',
    fallback: 3000,
  }),
  loadTimeoutMs: duration({
    env: 'SVC_LOAD_TIMEOUT',
    description:
      'How long a worker may be silent while it loads a model; the whole load may take three times as long.',
    fallback: 300_000,
  }),
  drainTimeoutMs: duration({
    env: 'SVC_DRAIN_TIMEOUT',
    live: true,
    description: 'How long running answers may take to finish after SIGTERM or Ctrl-C.',
    fallback: 20_000,
  }),
} as const;

export type SettingName = keyof typeof settings;
type SettingValue<S> = S extends Setting<infer T> ? T : never;
export type SettingValues = { readonly [K in SettingName]: SettingValue<(typeof settings)[K]> };
