import { expect, it, vi } from 'vitest';
import { keptForAll, keptForTab } from './storage';

it('what the browser does not keep the page remembers, until it may be kept', () => {
  const stored = new Map<string, string>();
  let blocked = true;
  const storage = () => {
    if (blocked) throw new DOMException('Access is denied for this document.', 'SecurityError');
    return {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, value: string) => { stored.set(key, value); },
      removeItem: (key: string) => { stored.delete(key); },
    };
  };
  vi.stubGlobal('localStorage', new Proxy({}, { get: (_, name) => Reflect.get(storage(), name) as unknown }));
  vi.stubGlobal('sessionStorage', new Proxy({}, { get: (_, name) => Reflect.get(storage(), name) as unknown }));
  for (const kept of [keptForAll, keptForTab]) {
    blocked = true;
    expect(kept.get('theme')).toBeNull();
    kept.set('theme', 'dark');
    expect(kept.get('theme')).toBe('dark');
    blocked = false;
    expect(kept.get('theme')).toBe('dark');
    kept.set('theme', 'light');
    expect(stored.get('theme')).toBe('light');
    expect(kept.get('theme')).toBe('light');
    blocked = true;
    kept.remove('theme');
    expect(kept.get('theme')).toBeNull();
    stored.clear();
  }
});
