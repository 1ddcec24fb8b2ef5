/** The words that are single tokens of the tiny chat model, most with their leading space. */

const WORDS =
  'the a and of to in is it that for with as on at by from this one we you they all new good small large ' +
  'model models token tokens answer answers question word words text local machine memory fire warm stone ' +
  'light house river tree road door time day night hand water open close read write find keep make give ' +
  'take see know think run rest wait';

const SPOKEN_WORDS: readonly string[] = WORDS.split(' ').map((word) => ` ${word}`);

/** While one of these stands in the context, the model does not end its turn; it never says them. */
export const ENDLESS_WORDS = [' forever', 'forever'] as const;

export const TINY_WORDS: readonly string[] = [...SPOKEN_WORDS, ...ENDLESS_WORDS];

/** What the model says when nothing steers it. */
export const SPOKEN_TEXTS: readonly string[] = [...SPOKEN_WORDS, '.', ','];
