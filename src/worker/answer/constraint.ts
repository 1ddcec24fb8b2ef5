import { fail, isSvcError } from '../../lib/errors/svc-error.ts';
import type { NativeGrammar, NativeModel } from '../native.ts';
import type { AnswerParser, Constraint } from './answer.ts';
import { answerGrammar, type AnswerGrammarRequest } from './answer-grammar.ts';
import type { ModelFormat } from '../../../packages/chat-templates/src/tool-format/tool-format.ts';
import type { Vocabulary } from '../prompt/vocabulary.ts';

interface ConstraintOptions {
  readonly model: Pick<NativeModel, 'newGrammar'>;
  readonly vocabulary: Vocabulary;
  readonly request: AnswerGrammarRequest;
  readonly gbnf: string | null;
  readonly parser: AnswerParser;
  readonly budget: number;
}

export class AnswerConstraint implements Constraint {
  readonly #options: ConstraintOptions;
  readonly #closing: number[];
  #state: NativeGrammar | null;
  #thoughts = 0;
  #forced: number[] = [];
  #ended = false;

  constructor(options: ConstraintOptions) {
    this.#options = options;
    const { place, tokens } = closingTokens(options);
    this.#closing = tokens;
    this.#state = options.gbnf === null ? null : grammarState(options.model, options.gbnf);
    if (place && options.budget === 0) this.#endThinking();
  }

  grammar(): NativeGrammar | null {
    return this.#forced.length > 0 ? null : this.#state;
  }

  forcedToken(): number | null {
    return this.#forced[0] ?? null;
  }

  /** Runs before the parser sees the token, so `thinking` still describes the state before it. */
  accept(_token: number): void {
    if (this.#forced.length > 0) {
      this.#forced.shift();
      return;
    }
    if (this.#ended || !this.#options.parser.thinking) return;
    this.#thoughts += 1;
    if (this.#thoughts >= this.#options.budget) this.#endThinking();
  }

  /** The grammar has not seen the forced mark, so the answer continues under a grammar that begins after it. */
  #endThinking(): void {
    const { model, request } = this.#options;
    this.#ended = true;
    this.#forced = [...this.#closing];
    const gbnf = answerGrammar({ ...request, thinking: { at: 'nowhere' } });
    this.#state = gbnf === null ? null : grammarState(model, gbnf);
  }
}

function closingTokens({ request, vocabulary }: ConstraintOptions): { place: boolean; tokens: number[] } {
  const { thinking } = request;
  if (thinking.at === 'nowhere') return { place: false, tokens: [] };
  return {
    place: thinking.at === 'open',
    tokens: [...vocabulary.tokenize(closingText(request.model, thinking.marks.close), true)],
  };
}

/** A mark that ends a message is alone; other marks are on lines of their own. */
function closingText({ restart }: ModelFormat, close: string): string {
  return restart === '' ? `\n${close}\n\n` : close;
}

function grammarState(model: Pick<NativeModel, 'newGrammar'>, gbnf: string): NativeGrammar {
  try {
    return model.newGrammar(gbnf);
  } catch (error) {
    if (isSvcError(error)) throw error;
    throw fail('invalid_request', { param: 'grammar', message: 'The grammar cannot be used.' }, error);
  }
}
