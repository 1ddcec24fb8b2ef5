import { changeOption, describeOptions } from './options.ts';
import { writeConversation } from './saved.ts';
import { askAgain, type Conversation, type Effect, type SignedAnswer, type Step } from './state.ts';
import { didYouMean, nearest } from '../../lib/base/nearest.ts';

interface Command {
  readonly names: readonly string[];
  readonly takes: string;
  readonly about: string;
  readonly run: (state: Conversation, given: string) => Step;
}

const commands: readonly Command[] = [
  { names: ['help', '?'], takes: '', about: 'lists these commands', run: (state) => askAgain(state, help()) },
  {
    names: ['bye', 'exit', 'quit'],
    takes: '',
    about: 'leaves, as /exit, /quit, Ctrl-D and Ctrl-C twice do',
    run: (state) => ({
      state: { ...state, phase: 'over' },
      effects: [{ do: 'leave', exitCode: 0, sentence: null }],
    }),
  },
  {
    names: ['clear'],
    takes: '',
    about: 'begins a new conversation with the same settings',
    run: (state) => askAgain({ ...state, turns: [], signed: null }, 'A new conversation.'),
  },
  {
    names: ['model'],
    takes: '[ID]',
    about: 'lets another model answer; alone, lists them',
    run: (state, given) =>
      wait(state, given === '' ? { do: 'listModels' } : { do: 'findModel', name: given }),
  },
  {
    names: ['set'],
    takes: '[NAME=VALUE]',
    about: 'sets an option, such as temperature; alone, lists them',
    run: (state, given) =>
      given === '' ? askAgain(state, describeOptions(state.options)) : set(state, given),
  },
  {
    names: ['system'],
    takes: '[TEXT]',
    about: 'sets the system message; none removes it',
    run: setSystem,
  },
  {
    names: ['save'],
    takes: 'FILE',
    about: 'writes the conversation to a file',
    run: writeConversation,
  },
  {
    names: ['load'],
    takes: 'FILE',
    about: 'continues a conversation from a file',
    run: (state, given) =>
      given === '' ? askAgain(state, 'Name the file: /load FILE') : wait(state, { do: 'read', file: given }),
  },
  {
    names: ['evidence'],
    takes: '[on|off|save FILE]',
    about: 'signed answers: ask, show the record, save it',
    run: evidence,
  },
  {
    names: ['verbose'],
    takes: '',
    about: 'shows tokens and speed after answers, or not',
    run: (state) =>
      askAgain(
        { ...state, isVerbose: !state.isVerbose },
        state.isVerbose ? 'Speed is no longer shown.' : 'Speed is shown after each answer.',
      ),
  },
];

export const commandNames: readonly string[] = commands.map(({ names: [name] }) => `/${name}`);

export const isCommand = (text: string): boolean => text.startsWith('/');

export function runCommand(state: Conversation, text: string): Step {
  const [, word = '', given = ''] = /^\/(\S*)\s*([\s\S]*)$/.exec(text) ?? [];
  const command = commands.find(({ names }) => names.includes(word.toLowerCase()));
  if (command !== undefined) return command.run(state, given.trim());
  const close = didYouMean(nearest(`/${word}`, commandNames));
  return askAgain(
    state,
    `There is no command /${word}.${close} /help lists them; a message may begin with a slash after a space.`,
  );
}

function help(): string {
  const rows = commands.map(({ names, takes, about }) => [`/${names[0]} ${takes}`.trim(), about] as const);
  const width = Math.max(...rows.map(([usage]) => usage.length)) + 2;
  return [
    ...rows.map(([usage, about]) => `${usage.padEnd(width)}${about}`),
    `${'"""'.padEnd(width)}begins and ends a message of several lines`,
    `${'Ctrl-C'.padEnd(width)}stops an answer; the conversation goes on`,
  ].join('\n');
}

function wait(state: Conversation, effect: Effect): Step {
  return { state: { ...state, phase: 'waiting' }, effects: [effect] };
}

function set(state: Conversation, given: string): Step {
  const { options, sentence } = changeOption(state.options, given);
  return askAgain({ ...state, options }, sentence);
}

function setSystem(state: Conversation, given: string): Step {
  if (given === '') return askAgain(state, state.system ?? 'No system message is set.');
  if (given === 'none') return askAgain({ ...state, system: null }, 'No system message.');
  return askAgain({ ...state, system: given }, 'The system message is set.');
}

function evidence(state: Conversation, given: string): Step {
  if (given === 'on') {
    const sentence =
      'Answers are signed from now on (frozen-v1): each is computed alone, at temperature 0 unless /set says otherwise, and shown when it is complete.';
    return askAgain({ ...state, isSigned: true }, sentence);
  }
  if (given === 'off') return askAgain({ ...state, isSigned: false }, 'Answers are no longer signed.');
  const { signed } = state;
  if (signed === null) {
    return askAgain(
      state,
      'The last answer has no evidence; /evidence on asks for it from the next answer on.',
    );
  }
  if (given === '') return askAgain(state, introduce(signed));
  const [, file] = /^save\s+(\S[\s\S]*)$/.exec(given) ?? [];
  if (file === undefined) return askAgain(state, 'Type /evidence on, /evidence off, or /evidence save FILE.');
  const requestFile = `${file.replace(/\.json$/, '')}.request.json`;
  return wait(state, {
    do: 'write',
    files: [
      { file, text: signed.response },
      { file: requestFile, text: signed.request },
    ],
    mayReplace: false,
    note: `Saved. Check it with: hearth evidence verify ${file} --request ${requestFile} --replay`,
  });
}

interface Statement {
  readonly predicate?: {
    readonly issuer?: { readonly instance_id?: string; readonly seq?: number; readonly issued_at?: string };
    readonly model?: { readonly id?: string; readonly blob_sha256?: string };
    readonly backend?: { readonly backend_sha256?: string };
    readonly output?: { readonly n_tokens?: number; readonly trace_sha256?: string };
  };
}

function introduce({ response }: SignedAnswer): string {
  const { issuer, model, backend, output } = readStatement(response)?.predicate ?? {};
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['instance', issuer?.instance_id],
    ['signed', `${issuer?.issued_at}, number ${issuer?.seq} of this boot`],
    ['model', `${model?.id}, sha256 ${model?.blob_sha256}`],
    ['backend', `sha256 ${backend?.backend_sha256}`],
    ['output', `${output?.n_tokens} tokens, trace sha256 ${output?.trace_sha256}`],
  ];
  return [
    'Evidence of the last answer (frozen-v1), unchecked:',
    ...rows.map(([name, value]) => `  ${name.padEnd(10)}${value ?? 'not stated'}`),
    '/evidence save FILE writes it, with its request, for hearth evidence verify.',
  ].join('\n');
}

function readStatement(response: string): Statement | null {
  try {
    const { evidence } = JSON.parse(response) as { evidence?: { payload?: string } };
    const bytes = Uint8Array.from(atob(evidence?.payload ?? ''), (character) => character.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes)) as Statement;
  } catch {
    return null;
  }
}
