export function saveFile(name: string, text: string, type = 'application/json'): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}

const MOST_SUBJECT = 40;

/** For example `hearth-proof-what-is-hearth-2026-11-27.json`. */
export function fileName(kind: string, subject = ''): string {
  const words = subject.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const about = words.join('-').slice(0, MOST_SUBJECT).replace(/-$/, '');
  const day = new Date().toLocaleDateString('sv');
  return ['hearth', kind, ...(about === '' ? [] : [about]), day].join('-').concat('.json');
}
