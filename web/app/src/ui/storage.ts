// What the browser keeps for the site. Where it keeps nothing, as with all site data blocked, the page remembers it itself,
// until it is closed or loaded anew.

export interface Kept {
  get(key: string): string | null;
  set(key: string, value: string): void;
  remove(key: string): void;
}

function keptIn(open: () => Storage): Kept {
  const here = new Map<string, string>();
  return {
    get(key) {
      const remembered = here.get(key);
      if (remembered !== undefined) return remembered;
      try { return open().getItem(key); } catch { return null; }
    },
    set(key, value) {
      try {
        open().setItem(key, value);
        here.delete(key);
      } catch { here.set(key, value); }
    },
    remove(key) {
      here.delete(key);
      try { open().removeItem(key); } catch { /* where nothing is kept nothing is to be forgotten */ }
    },
  };
}

/** For all tabs, until it is forgotten. */
export const keptForAll = keptIn(() => localStorage);

/** For this tab, until it is closed. */
export const keptForTab = keptIn(() => sessionStorage);
