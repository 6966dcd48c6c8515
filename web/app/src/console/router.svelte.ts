// Addresses below /console/, with the history of the browser. What a screen shows stands in its
// address, so that back, reload and a copied link bring it again.

const BASE = '/console';

let path = $state(location.pathname);
let query = $state(location.search);

function follow() {
  path = location.pathname;
  query = location.search;
}

// How far a page was scrolled is kept with its entry of the history: what it shows is read anew when one comes back, and
// only then is it as long again.
history.scrollRestoration = 'manual';
const PATIENCE = 5_000; // for what a page shows, in milliseconds
let returning = 0; // until when
let kept: ReturnType<typeof setTimeout> | undefined;

function keep() {
  clearTimeout(kept);
  kept = undefined;
  history.replaceState({ scroll: scrollY }, '');
}

addEventListener('scroll', () => {
  if (!returning) kept ??= setTimeout(keep, 150);
}, { passive: true });
for (const happened of ['wheel', 'pointerdown', 'keydown', 'touchmove'] as const) {
  addEventListener(happened, () => { returning = 0; }, { passive: true });
}

function scrollBack(to: number) {
  returning = Date.now() + PATIENCE;
  const step = () => {
    if (!returning) return;
    scrollTo(0, to);
    if (scrollY >= to - 1 || Date.now() > returning) returning = 0;
    else requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}

addEventListener('popstate', ({ state }) => {
  clearTimeout(kept);
  kept = undefined;
  follow();
  const { scroll } = (state ?? {}) as { scroll?: number };
  scrollBack(scroll ?? 0);
});

export const router = {
  /** The path behind /console, such as /customers/6b05…; / for Home. */
  get path(): string { return path.slice(BASE.length) || '/'; },
  get params(): URLSearchParams { return new URLSearchParams(query); },

  go(to: string) {
    const before = location.pathname;
    keep();
    history.pushState(null, '', BASE + to);
    follow();
    if (location.pathname !== before) scrollTo(0, 0);
  },

  /** Changes parameters of the address that is shown; undefined takes one away. */
  set(changes: Record<string, string | undefined>, replace = false) {
    const params = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined || value === '') params.delete(name);
      else params.set(name, value);
    }
    const search = params.toString();
    if (!replace) keep();
    history[replace ? 'replaceState' : 'pushState'](replace ? history.state : null, '', location.pathname + (search ? `?${search}` : ''));
    follow();
  },
};

/** Moves the focus to the heading of the page that comes, once no dialog is over it, unless somebody goes on before. */
export function focusHeading() {
  const watch = new MutationObserver(look);
  const stopping = new AbortController();
  const covered = () => !!document.querySelector('[role="dialog"]');
  const headingOf = () => document.querySelector<HTMLElement>('main h1');
  function stop() {
    watch.disconnect();
    stopping.abort();
    clearTimeout(timer);
  }
  function look() {
    const heading = headingOf();
    if (!heading || heading === document.activeElement || covered()) return;
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
  }
  const timer = setTimeout(stop, PATIENCE);
  watch.observe(document.body, { childList: true, subtree: true });
  // Screen readers and voice control move the focus without a key.
  addEventListener('focusin', ({ target }) => {
    if (target !== headingOf() && !covered()) stop();
  }, { signal: stopping.signal });
  for (const happened of ['keydown', 'pointerdown'] as const) {
    addEventListener(happened, stop, { capture: true, signal: stopping.signal });
  }
}

export function href(to: string): string { return BASE + to; }

/** Takes clicks on links of the console to the router; other links and new tabs are the browser's. */
export function followLinks(event: MouseEvent) {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
  const link = (event.target as Element).closest('a');
  if (!link || link.target || link.origin !== location.origin || !link.pathname.startsWith(`${BASE}/`)) return;
  event.preventDefault();
  if (link.hash && link.pathname === location.pathname && link.search === location.search) {
    document.getElementById(link.hash.slice(1))?.focus(); // a part of the page that is shown
    return;
  }
  router.go(link.pathname.slice(BASE.length) + link.search);
}
