import { sendAsked } from './client';
import { Lines, type StreamEvent } from './event_lines';

// Streams of events, read by fetch: the token goes in its header, never in an address.

/** How long a stream may say nothing: the API says every 15 s that it is alive. */
const SILENCE = 30_000;
/** The pauses before a stream is taken up again: the first after one that went well, the last again and again. */
const PAUSES = [1000, 2000, 3000];

export interface Following<T> {
  signal: AbortSignal;
  /** Hears of each event; true ends the following. */
  handle: (received: StreamEvent<T>) => boolean;
  /** There is no stream for now, or none of that address: look without it. True ends the following. */
  missed: (gone: boolean) => boolean;
}

/**
 * Follows a stream until the signal ends it, while anybody looks at the page. What ends is taken up again behind the last
 * event; a lost session is taken up as for any request.
 */
export function follow<T>(path: string, following: Following<T>): void {
  void run(path, following);
}

async function run<T>(path: string, { signal, handle, missed }: Following<T>): Promise<void> {
  let last = '';
  let failures = 0;
  while (!signal.aborted) {
    await shown(signal);
    const once = new AbortController();
    const end = () => { once.abort(); };
    const hide = () => { if (document.hidden) end(); };
    signal.addEventListener('abort', end);
    document.addEventListener('visibilitychange', hide);
    let silence = setTimeout(end, SILENCE);
    try {
      const headers = { Accept: 'text/event-stream', ...(last && { 'Last-Event-ID': last }) };
      const response = await sendAsked(new Request(path, { headers, signal: once.signal, cache: 'no-store' }));
      if (response.status === 404 && missed(true)) return;
      if (!response.ok || !response.body) throw new Error(String(response.status));
      const lines = new Lines<T>();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        clearTimeout(silence);
        silence = setTimeout(end, SILENCE);
        failures = 0;
        for (const received of lines.take(part.value)) {
          if (signal.aborted) return;
          last = received.id;
          if (handle(received)) {
            end();
            return;
          }
        }
      }
    } catch {
      if (signal.aborted) return;
      if (!document.hidden && missed(false)) return;
      failures = Math.min(failures + 1, PAUSES.length - 1);
    } finally {
      clearTimeout(silence);
      signal.removeEventListener('abort', end);
      document.removeEventListener('visibilitychange', hide);
    }
    await pause(PAUSES[failures] ?? SILENCE, signal);
  }
}

/** Ends once the page is looked at. */
function shown(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener('visibilitychange', look);
      signal.removeEventListener('abort', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
    signal.addEventListener('abort', look);
    look();
  });
}

function pause(time: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, time);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    }, { once: true });
  });
}
