import { didYouMean, nearest } from '../../lib/base/nearest.ts';

const SYNONYMS: Readonly<Record<string, string>> = {
  ask: 'run',
  chat: 'run',
  generate: 'run',
  load: 'run',
  up: 'serve',
  down: 'quit',
  kill: 'quit',
  exit: 'quit',
  shutdown: 'quit',
  upgrade: 'update',
  embeddings: 'embed',
  unload: 'stop',
  download: 'pull',
  get: 'pull',
  add: 'import',
  create: 'import',
  models: 'list',
  tags: 'list',
  info: 'show',
  inspect: 'show',
  copy: 'cp',
  use: 'default',
  delete: 'rm',
  remove: 'rm',
  settings: 'config',
  health: 'status',
  identity: 'status',
  clean: 'prune',
  usage: 'du',
  disk: 'du',
};

const ADVICE: Readonly<Record<string, string>> = {
  restart: 'Run hearth quit, then hearth serve; a unit: systemctl --user restart hearth',
  push: 'Hearth publishes no models.',
};

export function unknownVerb(word: string, verbs: readonly string[]): string {
  const advice = Object.hasOwn(ADVICE, word) ? ADVICE[word] : undefined;
  if (advice !== undefined) return `there is no verb ${word}. ${advice}`;
  return unknownSentence('hearth', word, meantBy(word, verbs));
}

export function unknownSubverb(verb: string, word: string, below: readonly string[]): string {
  return unknownSentence(`hearth ${verb}`, word, meantBy(word, below));
}

function meantBy(word: string, verbs: readonly string[]): readonly string[] {
  const synonym = Object.hasOwn(SYNONYMS, word) ? SYNONYMS[word] : undefined;
  return synonym !== undefined && verbs.includes(synonym) ? [synonym] : nearest(word, verbs);
}

function unknownSentence(line: string, word: string, meant: readonly string[]): string {
  const question = didYouMean(meant.map((verb) => `${line} ${verb}`));
  const full = `${line} ${word}`.replace('hearth ', '');
  return `there is no verb ${full}.${question === '' ? ` ${line} --help lists them.` : question}`;
}
