/**
 * Who may import whom, as data. imports.test.ts holds the sources to it in both directions: an import that no row
 * permits fails, and so does a permission that no import uses.
 *
 * A key is a room: a folder below src/, or one file there. A file belongs to the longest key that leads to it, and may
 * always import from its own room. A permission opens one room, not the rooms inside it.
 */
export const rooms: Readonly<Record<string, readonly string[]>> = {
  'app.ts': [
    'config',
    'http',
    'api',
    'engine',
    'engine/scheduler',
    'engine/local',
    'engine/observe',
    'store/registry',
    'trust/identity',
    'trust/evidence',
    'lib/base',
    'lib/files',
    'lib/errors',
  ],
  cli: [
    'cli/service',
    'app.ts',
    'config',
    'api',
    'store/registry',
    'store/files',
    'store/install',
    'store/hub',
    'store/foreign',
    'store/libraries',
    'store/lock',
    'trust/identity',
    'trust/evidence',
    'cli/conversation',
    'wire',
    'lib/base',
    'lib/files',
    'lib/errors',
  ],
  'cli/conversation': ['wire', 'lib/base', 'lib/errors'],
  'cli/service': [],
  config: ['contract', 'lib/base', 'lib/errors'],
  http: ['api', 'wire', 'lib/base', 'lib/json', 'lib/errors'],
  api: [
    'engine',
    'engine/local',
    'store/registry',
    'store/files',
    'store/install',
    'trust/identity',
    'trust/evidence',
    'wire',
    'contract',
    'lib/base',
    'lib/files',
    'lib/json',
    'lib/errors',
    'lib/grammar',
  ],
  engine: ['contract'],
  'engine/scheduler': ['engine', 'contract', 'lib/base', 'lib/errors'],
  'engine/local': ['engine', 'contract', 'lib/base', 'lib/errors', 'lib/files'],
  'engine/observe': ['engine', 'contract', 'lib/base', 'lib/errors'],
  'store/lock': ['lib/files', 'lib/errors'],
  'store/files': ['store/lock', 'contract', 'lib/files', 'lib/errors'],
  'store/registry': ['engine/local', 'store/files', 'contract', 'lib/files', 'lib/errors', 'lib/gguf'],
  'store/install': [
    'store/registry',
    'store/files',
    'contract',
    'lib/files',
    'lib/errors',
    'lib/gguf',
    'lib/chat-template',
  ],
  'store/hub': [
    'store/install',
    'store/registry',
    'store/files',
    'store/lock',
    'lib/base',
    'lib/files',
    'lib/errors',
    'lib/gguf',
  ],
  'store/libraries': ['store/hub', 'store/install', 'store/lock', 'lib/files', 'lib/errors'],
  'store/foreign': ['store/install', 'store/registry', 'store/files', 'lib/files'],
  'trust/identity': ['lib/base', 'lib/files', 'lib/errors'],
  'trust/evidence': ['trust/identity', 'contract', 'lib/base', 'lib/files', 'lib/errors'],
  wire: ['contract'],
  contract: ['lib/errors'],
  'lib/base': [],
  'lib/json': ['lib/errors'],
  'lib/files': ['lib/base', 'lib/errors'],
  'lib/errors': [],
  'lib/gguf': ['lib/files', 'lib/errors', 'lib/chat-template'],
  'lib/grammar': ['lib/errors'],
  'lib/chat-template': [],
  worker: [
    'contract',
    'lib/errors',
    'worker/addon',
    'worker/native.ts',
    'worker/load',
    'worker/model.ts',
    'worker/prepare.ts',
    'worker/outbox.ts',
    'worker/prompt',
    'worker/batch',
    'worker/embedding',
    'worker/frozen',
  ],
  'worker/event-loop.ts': [],
  'worker/native.ts': ['contract', 'worker/prompt'],
  'worker/addon/library': ['lib/files'],
  'worker/addon/sampling': ['contract', 'worker/native.ts', 'worker/addon/library'],
  'worker/addon/vocabulary': ['worker/addon/library', 'worker/prompt'],
  'worker/addon': [
    'contract',
    'lib/files',
    'worker/native.ts',
    'worker/addon/library',
    'worker/addon/sampling',
    'worker/addon/vocabulary',
    'worker/prompt',
  ],
  'worker/prompt': ['contract', 'lib/errors', 'lib/chat-template'],
  'worker/model.ts': ['contract', 'worker/native.ts', 'worker/prompt'],
  'worker/outbox.ts': ['contract', 'lib/errors'],
  'worker/prepare.ts': ['contract', 'lib/errors', 'worker/model.ts', 'worker/prompt', 'worker/answer'],
  'worker/threads': ['contract', 'worker/model.ts'],
  'worker/load': [
    'contract',
    'lib/errors',
    'worker/native.ts',
    'worker/model.ts',
    'worker/prompt',
    'worker/threads',
  ],
  'worker/answer': [
    'contract',
    'lib/errors',
    'lib/grammar',
    'lib/chat-template',
    'worker/native.ts',
    'worker/prompt',
  ],
  'worker/batch': [
    'lib/errors',
    'worker/event-loop.ts',
    'worker/model.ts',
    'worker/prepare.ts',
    'worker/outbox.ts',
    'worker/native.ts',
    'worker/threads',
    'worker/batch/stream',
    'worker/batch/planning',
  ],
  'worker/batch/stream': [
    'contract',
    'worker/model.ts',
    'worker/native.ts',
    'worker/prompt',
    'worker/answer',
    'worker/batch/planning',
  ],
  'worker/batch/planning': ['contract'],
  'worker/embedding': [
    'contract',
    'lib/base',
    'lib/errors',
    'worker/event-loop.ts',
    'worker/model.ts',
    'worker/outbox.ts',
    'worker/prompt',
  ],
  'worker/frozen': [
    'contract',
    'lib/errors',
    'worker/event-loop.ts',
    'worker/model.ts',
    'worker/prepare.ts',
    'worker/outbox.ts',
    'worker/native.ts',
    'worker/prompt',
    'worker/answer',
    'worker/batch',
    'worker/batch/stream',
  ],
};

/** Package, or the prefix of several that ends in a slash → the rooms that may import it, types included. */
export const guardedPackages: Readonly<Record<string, readonly string[]>> = {
  koffi: ['worker/addon', 'worker/addon/library', 'worker/addon/sampling'],
  // `#typebox` is the bundled copy; the package itself is hundreds of modules to load at every start.
  typebox: [],
  '@huggingface/jinja': ['worker/prompt'],
  '@huggingface/hub': ['store/hub'],
  fastify: ['http', 'app.ts'],
  '@fastify/': ['http'],
  // The store is a client of hubs; only http/ serves.
  'node:http': ['http', 'store/hub', 'store/libraries'],
  'node:child_process': ['engine/local', 'cli/service'],
  commander: ['cli'],
  '@clack/prompts': ['cli'],
  'prom-client': ['engine/observe'],
};

/** Rooms whose decisions are plain functions over plain data: nothing of Node may be imported there. */
export const pureRooms: readonly string[] = ['engine/scheduler', 'cli/conversation'];

/** Folders whose rooms know each other one way only. */
export const layeredFolders: readonly string[] = ['store', 'lib', 'trust', 'engine', 'worker'];

/** Folders whose own folders know each other one way only, whether or not these are rooms. */
export const layeredRooms: readonly string[] = ['api', 'cli', 'http', 'store', 'trust', 'wire', 'worker'];

/** Rooms that every request passes: a file call that blocks there would hold up all other requests. */
export const requestRooms: readonly string[] = [
  'http',
  'api',
  'store/registry',
  'store/files',
  'wire',
  'contract',
  'engine',
];

/** Files there that may make such a call, because the kernel answers it from memory and not from a disk. */
export const kernelReads: readonly string[] = ['engine/local/memory/free-memory.ts'];

/** Rooms that may read the environment or write to the console. */
export const processRooms: readonly string[] = ['cli', 'worker'];
