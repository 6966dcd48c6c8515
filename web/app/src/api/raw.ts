import { problemOf } from './problem';

/** The JSON at a public address. It throws the Problem of an answer that is none. */
export async function answerOf<T>(path: string): Promise<T> {
  const response = await fetch(path);
  if (!response.ok) throw await problemOf(response);
  return (await response.json()) as T;
}
