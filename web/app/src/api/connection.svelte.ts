// Whether the API can be reached. What fails to reach it says so here; a look every few seconds
// notices both ways: within five where nothing answers at all.

const PERIOD = 2500;
const PATIENCE = 2400;
let down = $state(false);
let back: (() => void)[] = [];

async function look() {
  if (document.hidden && !down) return;
  const reached = await fetch('/api/v1/health', { signal: AbortSignal.timeout(PATIENCE) })
    .then((r) => r.status !== 502 && r.status !== 504, () => false);
  if (reached) connection.reached();
  else down = true;
}

export const connection = {
  get down() { return down; },
  lost() { down = true; },
  reached() {
    if (!down) return;
    down = false;
    back.forEach((go) => { go(); });
    back = [];
  },
  /** Ends when the API can be reached again. */
  whenBack(): Promise<void> {
    return down ? new Promise((resolve) => { back.push(resolve); }) : Promise.resolve();
  },
  watch(): () => void {
    const timer = setInterval(() => void look(), PERIOD);
    return () => { clearInterval(timer); };
  },
};
