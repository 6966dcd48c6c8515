import { readBlob } from '../api/client';

// Pictures of the API that only who is signed in may see: read with the session's token, and shown from memory, so that
// no address holds a token. The last that were seen stay.

const MOST = 300;
const seen = new Map<string, Promise<string>>();

/** The address in this page of a stored picture. It throws the Problem of one that cannot be read. */
export function pictureAt(path: string): Promise<string> {
  const known = seen.get(path);
  if (known) {
    seen.delete(path);
    seen.set(path, known);
    return known;
  }
  const read = readBlob(path).then((blob) => URL.createObjectURL(blob));
  read.catch(() => { seen.delete(path); });
  seen.set(path, read);
  if (seen.size > MOST) {
    const [oldest, address] = [...seen][0] ?? [];
    if (oldest) seen.delete(oldest);
    address?.then((url) => { URL.revokeObjectURL(url); }, () => undefined);
  }
  return read;
}

/** Where a file of the archive is. */
export function archived(id: string): string { return `/api/v1/archive-records/${id}`; }
