/** A word that is no verb, and which one may be meant. */
import { didYouMean, nearest } from '../../lib/base/nearest.ts';

/** Words of other programs, and what they are here. */
const SYNONYMS: Readonly<Record<string, string>> = {
  ask: 'run',
  chat: 'run',
  generate: 'run',
  load: 'run',
  up: 'serve',
  down: 'stop',
  kill: 'stop',
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
};

/** A sentence about a word that is no verb. */
export function unknownVerb(word: string, verbs: readonly string[]): string {
  const synonym = Object.hasOwn(SYNONYMS, word) ? SYNONYMS[word] : undefined;
  const meant = synonym === undefined ? nearest(word, verbs) : [synonym];
  return sentenceOf('hearth', word, meant);
}

/** A sentence about a word behind a verb that has verbs of its own. */
export function unknownVerbOf(verb: string, word: string, below: readonly string[]): string {
  return sentenceOf(`hearth ${verb}`, word, nearest(word, below));
}

function sentenceOf(line: string, word: string, meant: readonly string[]): string {
  const question = didYouMean(meant.map((verb) => `${line} ${verb}`));
  const full = `${line} ${word}`.replace('hearth ', '');
  return `there is no verb ${full}.${question === '' ? ` ${line} --help lists them.` : question}`;
}
