import { problemOf } from './problem';
import { reach } from './reach';

/** The JSON at a public address. It throws the Problem of an answer that is none. */
export async function answerOf<T>(path: string): Promise<T> {
  const response = await reach(path);
  if (!response.ok) throw await problemOf(response);
  return (await response.json()) as T;
}
