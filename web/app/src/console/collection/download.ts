import { readText } from '../../api/client';

/** Hands the parts of a text to the browser as a file. */
export function download(parts: string[], name: string, type = 'text/csv') {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob(parts, { type: `${type};charset=utf-8` }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** The same with a text of the API. */
export async function downloadText(path: string, name: string): Promise<void> { download([await readText(path)], name); }
