import { readText } from '../../api/client';

/** Hands bytes to the browser as a file. */
export function downloadBlob(blob: Blob, name: string) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** The same with the parts of a text. */
export function download(parts: string[], name: string, type = 'text/csv') {
  downloadBlob(new Blob(parts, { type: `${type};charset=utf-8` }), name);
}

/** The same with a text of the API. */
export async function downloadText(path: string, name: string): Promise<void> { download([await readText(path)], name); }
