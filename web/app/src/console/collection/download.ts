import { readText } from '../../api/client';

/** Hands a text of the API to the browser as a file. */
export async function downloadText(path: string, name: string): Promise<void> {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([await readText(path)], { type: 'text/csv' }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
