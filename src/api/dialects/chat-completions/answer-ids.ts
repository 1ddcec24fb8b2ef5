/** Digits of the counter; more than 999,999 answers in a second would still be unique, but not in order. */
const COUNTER_DIGITS = 6;

/**
 * Ids of whole answers: digits only, unique in this process, and in the order of their time when compared as text.
 * The first answer of a second has the interface's literal form, `chatcmpl-svc-<unix seconds>`; the next ones of that
 * second append a counter. Clients key messages on these ids and lose one where two are equal.
 */
export function createAnswerIds(): (unixSeconds: number) => string {
  let latest = -Infinity;
  let further = 0;
  return (unixSeconds) => {
    // A clock that is set back does not bring used ids back.
    if (unixSeconds > latest) {
      latest = unixSeconds;
      further = 0;
      return `chatcmpl-svc-${latest}`;
    }
    further += 1;
    return `chatcmpl-svc-${latest}${String(further).padStart(COUNTER_DIGITS, '0')}`;
  };
}
