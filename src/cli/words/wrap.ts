/**
 * Lines broken between words to fit a terminal. What continues a line stands under its last column of a table, where it
 * has one: behind two spaces or more. A word that is too long stays whole.
 */
export function wrapWords(text: string, columns: number): string {
  return text
    .split('\n')
    .map((line) => wrapLine(line, columns))
    .join('\n');
}

function wrapLine(line: string, columns: number): string {
  if (line.length <= columns) return line;
  const [lead = ''] = /^\s*\S.*? {2,}(?=\S)/.exec(line) ?? [];
  const indent = lead.length < columns / 2 ? lead.length : 0;
  const rows: string[] = [];
  let row = line.slice(0, indent);
  for (const word of line.slice(indent).split(' ')) {
    const isFirst = row.length === indent;
    if (!isFirst && row.length + 1 + word.length > columns) {
      rows.push(row);
      row = ' '.repeat(indent) + word;
    } else {
      row += isFirst ? word : ` ${word}`;
    }
  }
  return [...rows, row].join('\n');
}
