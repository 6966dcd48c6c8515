import { expect, it } from 'vitest';
import { Lines } from './event_lines';

const TEXT = 'retry: 1000\n\nid: one\nevent: board\ndata: {"columns":2}\n\n: nothing new\n\nid: two\r\nevent: gone\r\ndata: null\r\n\r\nid: half\nevent: board\n';
const EVENTS = [{ id: 'one', event: 'board', data: { columns: 2 } }, { id: 'two', event: 'gone', data: null }];

it('events are read whole, in whatever pieces they come', () => {
  for (const size of [1, 2, 7, TEXT.length]) {
    const lines = new Lines();
    const received = [];
    for (let at = 0; at < TEXT.length; at += size) received.push(...lines.take(TEXT.slice(at, at + size)));
    expect(received).toEqual(EVENTS);
    expect(lines.take('data: 1\n\n')).toEqual([{ id: 'half', event: 'board', data: 1 }]);
  }
});
