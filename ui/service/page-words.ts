/** Remedies of the service are commands for a terminal; these replace them with buttons and fields of the page. */
import type { ErrorCode } from '../../src/lib/errors/catalogue.ts';

/** Replaces the remedy, which follows the last semicolon, or rewrites the whole sentence. */
const REMEDIES: Partial<Record<ErrorCode, string | ((sentence: string) => string)>> = {
  model_not_found: 'choose another model, or install it under Models',
  no_default_model: 'install one under Models',
  model_damaged: 'verify its files under Models',
  load_failed: 'verify its files under Models, or choose another model',
  model_quarantined: 'verify its files under Models, or try again later',
  load_setting_unusable: 'change or clear this setting under Models',
  token_ids_refused: 'send the text itself',
  name_taken: 'choose another name',
  sealed: 'start it without the seal to pull models, or install one from a file',
  model_exists: 'remove that model first',
  manifest_damaged: 'remove the model under Models, then install it again',
  native_unavailable: 'reinstall Hearth, then start the service again',
  hub_unauthorized: 'start the service with a valid token in HF_TOKEN',
  hub_unreachable: 'check the network, or install a model from a file',
  hub_offline: 'restart the service without it to pull models, or install one from a file',
  upstreams_down: 'the engine room shows their state; try again later',
  upstream_unreachable: 'check that it is running',
  unauthorized: 'enter the key when this page asks for it',
  admin_required: 'choose "Use another key" and enter an admin key',
  page_token_required: 'reload the page',
  context_length_exceeded: tooLong,
};

export function inPageWords(code: string, sentence: string): string {
  const remedy = Object.hasOwn(REMEDIES, code) ? REMEDIES[code as ErrorCode] : undefined;
  if (remedy === undefined) return sentence;
  if (typeof remedy === 'function') return remedy(sentence);
  const [cause = sentence] = /^.*(?=; )/s.exec(sentence) ?? [];
  return `${cause.replace(/\.$/, '')}; ${remedy}.`;
}

function tooLong(sentence: string): string {
  const [, prompt, window] = /the prompt is (.*?) tokens long.*? window of (\d+) tokens/.exec(sentence) ?? [];
  if (prompt === undefined) return sentence;
  const [, most] = /takes at most (\d+)/.exec(sentence) ?? [];
  const larger = most === undefined ? ', or set a larger context window under Settings' : '';
  const limit = most === undefined ? '' : ', the most this model can use';
  const or = most === undefined ? ', ' : ' or ';
  return `This conversation is too long: it takes ${grouped(prompt)} tokens, and the context window has ${grouped(window)}${limit}. Shorten your message${or}start a new conversation${larger}.`;
}

/** Adds separators, which the service leaves out. */
const grouped = (text = ''): string =>
  text.replaceAll(/\d+/g, (figure) => Number(figure).toLocaleString('en'));
