/** The conversation as decisions: no terminal, no service, every key and every chunk an event. */
import { describe, expect, it } from 'vitest';
import type { ChatChunk, ChatResponse } from '../../wire/inference/chat.ts';
import { type Conversation, type Effect, type Event, newConversation, type Opening } from './state.ts';
import { introduction, step } from './step.ts';

const mini = { id: 'mini', hasTemplate: true };

/** A conversation that remembers what it wanted done. */
class Talk {
  state: Conversation;
  effects: Effect[] = [];

  constructor(opening: Partial<Opening> = {}) {
    this.state = newConversation({ model: mini, ...opening });
  }

  on(...events: Event[]): this {
    for (const event of events) {
      const next = step(this.state, event);
      this.state = next.state;
      this.effects = [...next.effects];
    }
    return this;
  }

  line(text: string): this {
    return this.on({ on: 'line', text });
  }

  /** Questions and their whole answers. */
  exchange(question: string, answer: string): this {
    return this.line(question).on(text(answer), last(), { on: 'answered' });
  }

  get said(): string {
    return this.effects.flatMap((effect) => (effect.do === 'say' ? [effect.text] : [])).join('\n');
  }

  get sent(): Record<string, unknown> {
    const [sent] = this.effects.filter((effect) => effect.do === 'send');
    if (sent === undefined) throw new Error(`nothing was sent: ${JSON.stringify(this.effects)}`);
    return sent.body as Record<string, unknown>;
  }

  get kinds(): string[] {
    return this.effects.map((effect) => effect.do);
  }
}

const head = { id: 'chatcmpl-svc-x', object: 'chat.completion.chunk', created: 1, model: 'mini' } as const;
const delta = (delta: ChatChunk['choices'][number]['delta']): Event => ({
  on: 'chunk',
  chunk: { ...head, choices: [{ index: 0, delta, finish_reason: null }] },
});
const text = (content: string): Event => delta({ content });
const last = (reason: 'stop' | 'length' | 'repetition' = 'stop', more: Partial<ChatChunk> = {}): Event => ({
  on: 'chunk',
  chunk: {
    ...head,
    choices: [{ index: 0, delta: {}, finish_reason: 'stop', svc_finish_reason: reason }],
    usage: { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 },
    ...more,
  },
});
const failed = (failure: object): Event => ({
  on: 'failed',
  failure: { sentence: 'It failed.', code: null, exitCode: 1, wasStopped: false, ...failure },
});
const interrupt = (lineIsEmpty = true): Event => ({ on: 'interrupt', lineIsEmpty });

describe('the first line', () => {
  it.each([
    [undefined, 'mini answers.'],
    [{ tokens: 1024, isLoaded: true }, 'mini answers (window: 1024 tokens).'],
    [{ tokens: 32_768, isLoaded: false }, 'mini answers (window: up to 32768 tokens).'],
  ])('says the window %j', (window, line) => {
    const model = { ...mini, ...(window === undefined ? {} : { window }) };
    expect(introduction(new Talk({ model }).state)).toEqual([line]);
  });

  it('says what a model cannot do, where that is known', () => {
    const model = { ...mini, limits: 'knows only Hearth' };
    expect(introduction(new Talk({ model }).state)).toEqual(['mini answers.', 'It knows only Hearth.']);
  });
});

describe('a question', () => {
  it('is sent with everything said before, and its answer is kept', () => {
    const talk = new Talk({ system: 'Be kind.', options: { temperature: 0 } }).exchange('One?', 'Two.');
    expect(talk.kinds).toEqual(['closeAnswer', 'ask']);
    expect(talk.line(' Three? ').sent).toEqual({
      model: 'mini',
      temperature: 0,
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'One?' },
        { role: 'assistant', content: 'Two.' },
        { role: 'user', content: 'Three?' },
      ],
    });
  });

  it('shows why it waits, then reasoning, then the answer', () => {
    const talk = new Talk().line('Hi');
    expect(talk.on({ on: 'queued', reason: 'loading model mini' }).effects).toEqual([
      { do: 'showStatus', text: 'loading model mini' },
    ]);
    expect(talk.on(delta({ role: 'assistant', content: '' })).kinds).toEqual(['showStatus']);
    expect(talk.on(delta({ reasoning_content: 'Hm.' })).effects).toEqual([
      { do: 'showReasoning', text: 'Hm.' },
    ]);
    expect(talk.on(text('Yes.')).effects).toEqual([{ do: 'showAnswer', text: 'Yes.' }]);
    talk.on(last(), { on: 'answered' });
    expect(talk.state.turns).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Yes.' },
    ]);
  });

  it('that gets no words is not left without any', () => {
    expect(new Talk({ isSingle: true }).line('Hi').on(last(), { on: 'answered' }).said).toBe(
      'The model ended its answer before it began. A base model continues text and does not answer: ask it at /v1/completions.',
    );
  });

  it('says when it repeated itself, and how it goes on', () => {
    const talk = new Talk().line('Hi').on(text('a'), last('repetition'), { on: 'answered' });
    expect(talk.said).toBe(
      'The answer repeated itself and was ended after 4 tokens; to let it go on: hearth set mini repetition_guard=0, or /set repetition_guard=0.',
    );
  });

  it('is not sent while it is empty', () => {
    expect(new Talk().line('  ').effects).toEqual([{ do: 'ask', more: false }]);
  });

  it('says when its answer was cut, and by what where that is known', () => {
    const talk = new Talk().line('Hi').on(text('a'), last('length'), { on: 'answered' });
    expect(talk.said).toBe(
      'The answer was cut after 4 tokens: a limit of the model, or its context window is full.',
    );
    const limited = new Talk({ options: { max_tokens: 4 } })
      .line('Hi')
      .on(last('length'), { on: 'answered' });
    expect(limited.said).toBe('The answer was cut after 4 tokens (max_tokens).');
    const full = new Talk({ model: { id: 'm', hasTemplate: true, window: { tokens: 13, isLoaded: true } } })
      .line('Hi')
      .on(last('length'), { on: 'answered' });
    expect(full.said).toBe('The answer was cut after 4 tokens: its context window of 13 tokens is full.');
    const known = new Talk()
      .line('Hi')
      .on(last('length'), { on: 'window', window: { tokens: 99, isLoaded: true } }, { on: 'answered' });
    expect(known.said).toBe(
      'The answer was cut after 4 tokens, the limit of mini; another one: hearth set mini max_tokens=N, or /set max_tokens=N.',
    );
    // The window of the load, which is smaller than what was possible before it.
    const guessed = new Talk({
      model: { id: 'm', hasTemplate: true, window: { tokens: 99, isLoaded: false } },
    })
      .line('Hi')
      .on(last('length'), { on: 'window', window: { tokens: 13, isLoaded: true } }, { on: 'answered' });
    expect(guessed.said).toContain('its context window of 13 tokens is full');
    const other = new Talk({ options: { num_predict: 4, max_tokens: 9 } })
      .line('Hi')
      .on(last('length'), { on: 'answered' });
    expect(other.said).toBe('The answer was cut after 4 tokens (num_predict).');
  });

  it('has the images and audio of its question, as parts after the text', () => {
    const IMAGE = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } };
    const { sent } = new Talk({ media: [IMAGE], isSingle: true }).line('What is it?');
    expect(sent['messages']).toEqual([
      {
        role: 'user',
        content: [{ type: 'text', text: 'What is it?' }, IMAGE],
      },
    ]);
  });
});

describe('Ctrl-C', () => {
  it('stops the answer, keeps what was said and goes on', () => {
    const talk = new Talk().line('Hi').on(text('Well, '));
    expect(talk.on(interrupt()).effects).toEqual([{ do: 'stop' }]);
    expect(talk.on(text('late')).effects).toEqual([]);
    talk.on(failed({ wasStopped: true }));
    expect([talk.said, talk.kinds]).toEqual([
      'Stopped; what was said so far is kept.',
      ['closeAnswer', 'say', 'ask'],
    ]);
    expect(talk.line('More').sent['messages']).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Well, ' },
      { role: 'user', content: 'More' },
    ]);
  });

  it('before the first word drops the question, and says so', () => {
    const talk = new Talk().line('Hi').on(interrupt(), failed({ wasStopped: true }));
    expect([talk.said, talk.state.turns]).toEqual([
      'Stopped before the answer began; the question is not kept.',
      [],
    ]);
  });

  it('leaves at the second time in a row at an empty line, and only then', () => {
    const talk = new Talk().on(interrupt());
    expect(talk.said).toContain('Ctrl-C again');
    talk.line('').on(interrupt());
    expect(talk.kinds).toEqual(['say', 'ask']);
    expect(talk.on(interrupt()).effects).toEqual([{ do: 'leave', exitCode: 0, sentence: null }]);
    expect(new Talk().on(interrupt(), interrupt(false), interrupt()).kinds).toEqual(['say', 'ask']);
  });

  it('ends a single question with 130', () => {
    const talk = new Talk({ isSingle: true }).line('Hi').on(interrupt(), failed({ wasStopped: true }));
    expect(talk.effects).toEqual([{ do: 'closeAnswer' }, { do: 'leave', exitCode: 130, sentence: null }]);
  });

  it('drops an unfinished message of several lines', () => {
    const talk = new Talk().line('"""one').on(interrupt());
    expect([talk.state.phase, talk.state.block]).toEqual(['asking', []]);
  });
});

describe('a failure', () => {
  it('is said, the message is not kept, and the next one can be asked', () => {
    const talk = new Talk().exchange('One?', 'Two.').line('Three?').on(failed({}));
    expect(talk.said).toBe(
      'It failed.\nThis message was not added to the conversation; the up arrow brings it back.',
    );
    expect([talk.kinds.at(-1), talk.state.turns.length]).toEqual(['ask', 2]);
  });

  it('of a full window offers a way on and drops nothing', () => {
    const talk = new Talk()
      .exchange('One?', 'Two.')
      .line('Three?')
      .on(failed({ code: 'context_length_exceeded' }));
    expect(talk.said).toMatch(/Nothing was dropped.*\/clear.*num_ctx/);
    expect(talk.state.turns).toHaveLength(2);
    expect(talk.line('/clear').state.turns).toEqual([]);
  });

  it('ends a single question with its sentence and exit code', () => {
    const talk = new Talk({ isSingle: true }).line('/help').on(failed({ exitCode: 4 }));
    expect(talk.effects.at(-1)).toEqual({ do: 'leave', exitCode: 4, sentence: 'It failed.' });
  });
});

describe('several lines', () => {
  it('between triple quotes are one message', () => {
    const talk = new Talk().line('"""first');
    expect(talk.effects).toEqual([{ do: 'ask', more: true }]);
    talk.line('/not a command').line('last"""');
    expect(talk.sent['messages']).toEqual([{ role: 'user', content: 'first\n/not a command\nlast' }]);
  });

  it('may begin and end on one line, and need something in between', () => {
    expect(new Talk().line('"""one"""').sent['messages']).toEqual([{ role: 'user', content: 'one' }]);
    expect(new Talk().line('""""""').effects).toEqual([{ do: 'ask', more: false }]);
  });
});

describe('the end of input', () => {
  it('leaves, after the answer that still runs', () => {
    expect(new Talk().on({ on: 'end' }).kinds).toEqual(['leave']);
    const talk = new Talk().line('Hi').on({ on: 'end' });
    expect(talk.effects).toEqual([]);
    expect(talk.on(text('Yes.'), last(), { on: 'answered' }).kinds).toEqual(['closeAnswer', 'leave']);
  });
});

describe('commands', () => {
  it('are listed by /help, each with a sentence', () => {
    const { said } = new Talk().line('/help');
    for (const name of 'help bye clear model set system save load evidence verbose'.split(' '))
      expect(said).toMatch(new RegExp(`^/${name}\\b.* {2,}\\w`, 'm'));
    expect(new Talk().line('/?').said).toBe(said);
  });

  it('that do not exist are not sent, and the one that was meant is named', () => {
    expect(new Talk().line('/claer').said).toContain('There is no command /claer. Did you mean /clear?');
    expect(new Talk().line(' /etc/passwd is what?').sent['messages']).toEqual([
      { role: 'user', content: '/etc/passwd is what?' },
    ]);
  });

  it('/bye leaves', () => {
    expect(new Talk().line('/bye').kinds).toEqual(['leave']);
  });

  it('/model changes who answers and keeps the conversation', () => {
    const talk = new Talk().exchange('One?', 'Two.').line('/model other');
    expect(talk.effects).toEqual([{ do: 'findModel', name: 'other' }]);
    talk.on({ on: 'model', model: { id: 'other', hasTemplate: false } });
    expect(talk.said).toMatch(/^other answers\. The conversation so far is kept.*\n.*no chat template/);
    expect(talk.line('Three?').sent).toMatchObject({ model: 'other', messages: { length: 3 } });
    const listed = new Talk().line('/model').on({ on: 'models', ids: ['mini', 'other'] });
    expect(listed.said).toBe('mini answers. Others: other');
    const wrong = new Talk().line('/model x').on(failed({ sentence: 'No x.' }));
    expect([wrong.said, wrong.state.model.id]).toEqual(['No x.', 'mini']);
  });

  it('/set takes what a request takes, checked by its schema', () => {
    const talk = new Talk().line('/set temperature=0.5').line('/set stop a').line('/set keep_alive=10m');
    expect(talk.line('Hi').sent).toMatchObject({ temperature: 0.5, stop: 'a', keep_alive: '10m' });
    const refused = (given: string): string => new Talk().line(`/set ${given}`).said;
    expect(refused('temperature=warm')).toBe(
      'temperature=warm is not usable: it must be a number from 0 to 100.',
    );
    expect(refused('num_ctx=abc')).toContain('it must be a whole number of at least 1.');
    expect(refused('reasoning_effort=much')).toContain('one of none, minimal, low');
    expect(refused('tempeature=1')).toContain('Did you mean temperature?');
    expect(refused('messages=[]')).toContain('There is no option messages.');
    expect(refused('')).toContain('No options are set');
    const removed = new Talk({ options: { top_k: 5 } }).line('/set top_k=');
    expect([removed.said, removed.state.options]).toEqual(['top_k is no longer set.', {}]);
  });

  it('/system sets, shows and removes the system message', () => {
    const talk = new Talk().line('/system Be brief.');
    expect(talk.line('Hi').sent['messages']).toMatchObject([{ role: 'system', content: 'Be brief.' }, {}]);
    expect(new Talk({ system: 'x' }).line('/system').said).toBe('x');
    expect(new Talk({ system: 'x' }).line('/system none').state.system).toBeNull();
  });

  it('/verbose shows tokens and speed', () => {
    const cache = { slot: 0, ram: 0, disk: 0, restore_ms: 0, evaluated: 9 };
    const timings = {
      cache_n: 0,
      prompt_n: 9,
      predicted_n: 4,
      prompt_ms: 1,
      predicted_ms: 2,
      prompt_per_second: 90,
      predicted_per_second: 12.34,
      cache,
    };
    const talk = new Talk().line('/verbose').line('Hi').on(text('Yes.'));
    talk.on(last('stop', { timings }), { on: 'answered' });
    expect(talk.said).toBe('9 prompt tokens at 90.0 tokens/s, 4 generated at 12.3 tokens/s');
  });
});

describe('a saved conversation', () => {
  const written = (talk: Talk): string => {
    const [effect] = talk.effects;
    if (effect?.do !== 'write') throw new Error('nothing was written');
    return effect.files[0]?.text ?? '';
  };

  it('is the request that continues it, and comes back as it was', () => {
    const talk = new Talk({ system: 'S', options: { top_k: 5 } })
      .exchange('One?', 'Two.')
      .line('/save talk.json');
    expect(talk.effects).toMatchObject([{ do: 'write', mayReplace: false }]);
    const file = written(talk);
    expect(JSON.parse(file)).toMatchObject({ model: 'mini', top_k: 5, messages: { length: 3 } });
    const back = new Talk().line('/load talk.json').on({ on: 'loaded', file: 'talk.json', text: file });
    expect(back.state).toMatchObject({
      system: 'S',
      options: { top_k: 5 },
      turns: talk.state.turns,
      phase: 'asking',
    });
    expect(back.line('/save talk.json').effects).toMatchObject([{ mayReplace: true }]);
  });

  it('may be empty, and may name another model', () => {
    const file = written(new Talk({ model: { id: 'other', hasTemplate: true } }).line('/save x'));
    const back = new Talk().line('/load x').on({ on: 'loaded', file: 'x', text: file });
    expect(back.effects.at(-1)).toEqual({ do: 'findModel', name: 'other' });
  });

  it.each(['', '[]', '{"model":"m"}', '{"model":"m","messages":[{"role":"tool","content":"x"}]}', 'null'])(
    'is not %j, and then nothing changes',
    (file) => {
      const talk = new Talk()
        .exchange('One?', 'Two.')
        .line('/load x')
        .on({ on: 'loaded', file: 'x', text: file });
      expect(talk.said).toContain('holds no conversation');
      expect(talk.state.turns).toHaveLength(2);
    },
  );
});

describe('/evidence', () => {
  const payload = btoa(JSON.stringify({ predicate: { issuer: { instance_id: 'svc-me', seq: 3 } } }));
  const body = {
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'Two.' },
        finish_reason: 'stop',
        svc_finish_reason: 'stop',
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    evidence: { payload },
  } as unknown as ChatResponse;
  const signed = { request: '{"q":1}', response: JSON.stringify(body) };

  it('asks for signed answers, shows the record and saves it with its request', () => {
    const talk = new Talk().line('/evidence on').line('One?');
    expect(talk.effects.at(-1)).toMatchObject({ do: 'send', isSigned: true });
    expect(talk.sent).not.toHaveProperty('stream');
    talk.on({ on: 'signed', answer: signed, body });
    expect(talk.effects).toEqual([{ do: 'showAnswer', text: 'Two.' }]);
    talk.on({ on: 'answered' });
    expect(talk.line('/evidence').said).toMatch(/instance +svc-me\n.*number 3 of this boot/);
    expect(talk.line('/evidence save a.json').effects).toMatchObject([
      {
        do: 'write',
        files: [
          { file: 'a.json', text: signed.response },
          { file: 'a.request.json', text: signed.request },
        ],
        mayReplace: false,
      },
    ]);
  });

  it('has nothing to show of an answer that was not signed', () => {
    expect(new Talk().exchange('One?', 'Two.').line('/evidence').said).toContain('has no evidence');
  });
});
