/** An event of a stream. */
export interface StreamEvent<T> { id: string; event: string; data: T }

/** Reads events from the text of a stream, in whatever pieces it comes: fields on lines, an empty line behind each event. */
export class Lines<T> {
  private rest = '';
  private fields: Record<string, string> = {};

  take(text: string): StreamEvent<T>[] {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop() ?? '';
    const events: StreamEvent<T>[] = [];
    for (const whole of lines) {
      const line = whole.endsWith('\r') ? whole.slice(0, -1) : whole;
      const colon = line.indexOf(':');
      if (line === '') {
        const { id = '', event = 'message', data } = this.fields;
        if (data !== undefined) events.push({ id, event, data: JSON.parse(data) as T });
        this.fields = {};
      } else if (colon !== 0) { // else a comment
        const name = colon < 0 ? line : line.slice(0, colon);
        const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
        this.fields[name] = name === 'data' && this.fields['data'] !== undefined ? `${this.fields['data']}\n${value}` : value;
      }
    }
    return events;
  }
}
