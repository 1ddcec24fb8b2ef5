/** A refusal or limitation of a chat template; the message is the template's own reason, in one line. */
export class TemplateError extends Error {
  constructor(reason: string, cause?: unknown) {
    super(
      (reason.split('\n')[0] ?? '').slice(0, LONGEST_REASON),
      cause === undefined ? undefined : { cause },
    );
    this.name = 'TemplateError';
  }
}

/** A template may raise a text of any length. */
const LONGEST_REASON = 300;
