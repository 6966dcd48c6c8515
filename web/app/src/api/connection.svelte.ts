// Whether the API can be reached. What fails to reach it says so here; a look every few seconds
// notices both ways: within five where nothing answers at all.

const PERIOD = 2500;
const PATIENCE = 2400;
let down = $state(false);
let back: (() => void)[] = [];
let testMode = $state.raw<string[]>([]);

async function look() {
  if (document.hidden && !down) return;
  const response = await fetch('/api/v1/health', { signal: AbortSignal.timeout(PATIENCE) }).catch(() => undefined);
  if (!response || response.status === 502 || response.status === 504) {
    down = true;
    return;
  }
  connection.reached();
  const health = (await response.json().catch(() => undefined)) as { test_mode?: string[] } | undefined;
  if (health?.test_mode && health.test_mode.join() !== testMode.join()) testMode = health.test_mode;
}

export const connection = {
  get down() { return down; },
  /** The gateways that take no real money, by name. */
  get testMode() { return testMode; },
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
    void look();
    const timer = setInterval(() => void look(), PERIOD);
    return () => { clearInterval(timer); };
  },
};
