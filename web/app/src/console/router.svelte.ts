// Addresses below /console/, with the history of the browser. What a screen shows stands in its
// address, so that back, reload and a copied link bring it again.

const BASE = '/console';

let path = $state(location.pathname);
let query = $state(location.search);

function follow() {
  path = location.pathname;
  query = location.search;
}

addEventListener('popstate', follow);

export const router = {
  /** The path behind /console, such as /customers/6b05…; / for Home. */
  get path(): string { return path.slice(BASE.length) || '/'; },
  get params(): URLSearchParams { return new URLSearchParams(query); },

  go(to: string) {
    history.pushState(null, '', BASE + to);
    follow();
    scrollTo(0, 0);
  },

  /** Changes parameters of the address that is shown; undefined takes one away. */
  set(changes: Record<string, string | undefined>, replace = false) {
    const params = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined || value === '') params.delete(name);
      else params.set(name, value);
    }
    const search = params.toString();
    history[replace ? 'replaceState' : 'pushState'](null, '', location.pathname + (search ? `?${search}` : ''));
    follow();
  },
};

export function href(to: string): string { return BASE + to; }

/** Takes clicks on links of the console to the router; other links and new tabs are the browser's. */
export function followLinks(event: MouseEvent) {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
  const link = (event.target as Element).closest('a');
  if (!link || link.target || link.origin !== location.origin || !link.pathname.startsWith(`${BASE}/`)) return;
  event.preventDefault();
  router.go(link.pathname.slice(BASE.length) + link.search);
}
