import { connection } from './connection.svelte';
import { ofRead, Problem } from './problem';

/** Sends a request: reads wait for a lost connection, of others it throws the Problem that nothing is known. */
export async function reach(input: Request | string, init?: RequestInit): Promise<Response> {
  const request = new Request(input, init);
  for (;;) {
    try {
      const response = await fetch(request.clone());
      if (request.method === 'GET') ofRead(response);
      connection.reached();
      return response;
    } catch (cause) {
      if (request.signal.aborted) throw cause;
      connection.lost();
      if (request.method !== 'GET') throw new Problem(0, '', '', {}, '');
      await connection.whenBack();
    }
  }
}
