/** What stands for characters in markdown: escapes and entities. Pure. */

/** Characters that a backslash takes the meaning from. Behind any other one it is a backslash, as in TeX and in paths. */
const MARKS = new Set('\\`*_#+-.|~<>$!&'.split(''));

/** `raw` is a backslash and a character. */
export const unescaped = (raw: string): string => (MARKS.has(raw.charAt(1)) ? raw.slice(1) : raw);

/** Those that models write; others stay as they are. Numbers are read by the parser. */
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0', copy: '©', reg: '®', trade: '™',
  hellip: '…', mdash: '—', ndash: '–', lsquo: '‘', rsquo: '’', ldquo: '“', rdquo: '”', laquo: '«', raquo: '»',
  bull: '•', middot: '·', para: '¶', sect: '§', deg: '°', plusmn: '±', times: '×', divide: '÷', frac12: '½',
  frac14: '¼', frac34: '¾', sup2: '²', sup3: '³', micro: 'µ', le: '≤', ge: '≥', ne: '≠', asymp: '≈', equiv: '≡',
  infin: '∞', radic: '√', sum: '∑', prod: '∏', int: '∫', part: '∂', nabla: '∇', isin: '∈', notin: '∉', cup: '∪',
  cap: '∩', sub: '⊂', sup: '⊃', forall: '∀', exist: '∃', and: '∧', or: '∨', not: '¬', larr: '←', uarr: '↑',
  rarr: '→', darr: '↓', harr: '↔', rArr: '⇒', lArr: '⇐', hArr: '⇔', alpha: 'α', beta: 'β', gamma: 'γ', delta: 'δ',
  epsilon: 'ε', theta: 'θ', lambda: 'λ', mu: 'μ', pi: 'π', rho: 'ρ', sigma: 'σ', tau: 'τ', phi: 'φ', omega: 'ω',
  Gamma: 'Γ', Delta: 'Δ', Theta: 'Θ', Lambda: 'Λ', Pi: 'Π', Sigma: 'Σ', Phi: 'Φ', Omega: 'Ω', euro: '€', pound: '£',
  yen: '¥', cent: '¢', check: '✓', cross: '✗', star: '☆', hearts: '♥', shy: '\u00ad', zwj: '\u200d',
};

export const decoded = (text: string): string =>
  text.replaceAll(/&(\w{2,8});/g, (whole, name: string) =>
    Object.hasOwn(ENTITIES, name) ? (ENTITIES[name] ?? whole) : whole,
  );
